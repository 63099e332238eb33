// The page: questions, answers, charts, simulation, code.

import { nameOf, sentence, showAnswers } from './answers.js';
import { believe, startBelieve } from './believe.js';
import { LineChart, spaced } from './charts.js';
import { languages } from './code.js';
import { announce, byId, copyButton, make, tableOf } from './elements.js';
import { Engine, latest } from './engine.js';
import { startFigures } from './figures.js';
import { makeForm, showErrors, showFile, showState } from './form.js';
import { showInside, startInside } from './inside.js';
import { bytes, count, rate, significant } from './numbers.js';
import { checked, fragmentOf, requirementsOf, stateOfFragment } from './state.js';

const planner = new Engine();
const curves = new Engine();
const files = new Engine();

let state = stateOfFragment(location.hash);
let kinds = {};
let plan;
let changedAt = 0;  // of the change that is not answered yet, after the page was opened

const traitsOf = (candidate) => kinds[candidate.kind];
const chosen = () => plan.candidates.find((candidate) => nameOf(candidate) === state.chosen) ?? plan.candidates[0];

function change(name, value) {
  state[name] = value;
  showState(state);
  update();
}

/** After any change. How long its answer takes is in the browser's timeline, as measures named 'answer'. */
function update() {
  changedAt ??= performance.now();
  return answer();
}

/** Checks, plans, shows. */
const answer = latest(async () => {
  const start = changedAt ?? performance.now();
  changedAt = undefined;
  const { values, errors } = checked(state);
  showErrors(errors);
  history.replaceState(null, '', `#${fragmentOf(state)}`);
  byId('answers').classList.toggle('is-old', Object.keys(errors).length > 0);
  if (Object.keys(errors).length > 0) return;
  try {
    const found = await planner.call('plan', requirementsOf(values, state.histogram));
    if (values.question === 'others') found.candidates = found.candidates.filter((own) => kinds[own.kind].has_summary);
    if (values.question === 'often') await addSketches(found, values);
    if (found.candidates.length === 0) throw new Error('no structure that other nodes can copy meets the requirements');
    plan = found;
    byId('plan-error').textContent = '';
    showPlan(values);
    announce(`${nameOf(chosen())}: ${bytes(chosen().memory_bytes)}, error ${rate(chosen().false_positive_rate)}.`);
  } catch (error) {
    byId('plan-error').textContent = sentence(error.message);
    byId('answers').classList.add('is-old');
  }
  performance.measure('answer', { start });
});

/** Sketches keep no keys: their error is a share of all insertions. */
async function addSketches(found, values) {
  const sketches = await planner.call('plan_sketch', { epsilon: values.share });
  const num_keys = found.candidates[0]?.num_keys ?? values.keys;
  for (const own of sketches.candidates) {
    found.candidates.push({
      ...own, num_keys, false_positive_rate: null, bits_per_key: (8 * own.memory_bytes) / num_keys,
      summary: `a count is too high by more than ${rate(own.epsilon)} of all insertions with probability ${rate(own.failure_probability)}`,
    });
  }
}

function showPlan(values) {
  showAnswers(plan, chosen(), traitsOf, (name) => {
    state.chosen = name === nameOf(plan.candidates[0]) ? '' : name;
    update();
  });
  showCode();
  drawCurves(values, chosen());
  believe(chosen(), values.question === 'times' ? values.times : 1);
  showInside(chosen().kind);
}

function showCode() {
  const { shape } = chosen();
  byId('code').replaceChildren(
    ...languages.map(([name, codeOf]) => {
      const text = codeOf(shape, traitsOf(chosen()));
      return make('section', { class: 'snippet' }, make('h3', {}, name), copyButton(() => text, `code for ${name}`), make('pre', { tabindex: 0 }, make('code', {}, text)));
    }),
  );
}

const number = (label, format, isLog = true) => ({ label, format, isLog });

let byMemory;
let byKeys;
let failures;

/** The planner's answers for less and for more memory, and the chosen structure with fewer and with more keys. */
const drawCurves = latest(async (values, candidate) => {
  try {
    await drawByMemory(values, candidate);
    await drawByKeys(values, candidate);
    await tellOthers(values, candidate);
  } catch (error) {
    byId('curves-error').textContent = sentence(error.message);
    return;
  }
  byId('curves-error').textContent = '';
});

async function drawByMemory(values, candidate) {
  const memory = spaced(Math.max(64, candidate.memory_bytes / 4), candidate.memory_bytes * 4, 17).map(Math.round);
  const wanted = requirementsOf(values, state.histogram);
  delete wanted.false_positive_rate;
  delete wanted.memory_bytes;
  const series = [];
  for (const own of plan.candidates) {
    if (own.kind === 'count-min' || series.length === 8) continue;
    const { kind, scheme, num_subtables } = own.shape;
    const requirements = { ...wanted, scheme, ...(kind === 'dleft' ? { num_subtables } : {}) };
    const found = await curves.call('error_by_memory', { kind, requirements, memory_bytes: memory });
    series.push({ name: nameOf(own), values: found.false_positive_rate, isChosen: nameOf(own) === nameOf(candidate) });
  }
  byMemory.show({
    x: number('Memory', bytes), y: number('Error', rate), values: memory, series,
    point: { x: candidate.memory_bytes, y: candidate.false_positive_rate, text: `${bytes(candidate.memory_bytes)}, error ${rate(candidate.false_positive_rate)}` },
    summary: `${nameOf(candidate)} with ${bytes(candidate.memory_bytes)} has an error of ${rate(candidate.false_positive_rate)}. Each structure is planned anew for each memory; drag the point, or move it by the arrow keys, to give another memory.`,
  });
}

async function drawByKeys(values, candidate) {
  const keys = [...new Set(spaced(Math.max(1, candidate.num_keys / 8), candidate.num_keys * 4, 25).map(Math.round))];
  const all = [...keys, candidate.num_keys, 2 * candidate.num_keys];
  const found = await curves.call('error_by_keys', {
    shape: candidate.shape, num_keys: all, lifetime_operations: candidate.dleft?.lifetime_operations ?? 0,
    ...(candidate.kind === 'count-min' ? { threshold: values.times ?? 2 } : {}),
  });
  const points = all.map((_, i) => ({ rate: found.false_positive_rate[i], law: found.law[i], failure: found.failure_probability[i] }));
  const [now, twice] = points.splice(-2);
  const isDLeft = points.some((point) => Number.isFinite(point.failure));
  byKeys.show({
    x: number('Keys', count), y: number('Error', rate), values: keys,
    series: [{ name: nameOf(candidate), values: points.map((point) => point.rate), isChosen: true }],
    point: { x: candidate.num_keys, y: now.rate, text: count(candidate.num_keys) },
    summary: `With ${count(candidate.num_keys)} keys the error is ${rate(now.rate)}, with twice as many ${rate(twice.rate)}${lawOf(now, candidate.shape)}.`,
  });
  byId('failures').hidden = !isDLeft;
  if (!isDLeft) return;
  failures.show({
    x: number('Keys', count), y: { ...number('Probability that an insertion is refused', significant, false), range: [0, 1] }, values: keys,
    series: [{ name: 'any insertion is refused', values: points.map((point) => point.failure), isChosen: true }],
    summary: `With ${count(candidate.num_keys)} keys some insertion is refused with a probability of at most ${rate(now.failure)}, with twice as many ${rate(twice.failure)}. The bound is the limit for many buckets, of a filter that moves no cells.`,
  });
}

/** The positions of a key are not independent of each other: a factor of at most about 1 + k^2 / (4 m). */
function limitText({ num_hashes, num_positions }) {
  return ` (a limit for large filters; of this one, up to ${rate(num_hashes ** 2 / (4 * num_positions))} of that more)`;
}

/** What is uncertain about a number whose formula is a limit. */
function lawOf(point, shape) {
  return {
    limit: limitText(shape),
    bound: ' (at most, however often keys repeat)',
    independent: ' (as if counters were independent of each other)',
  }[point.law] ?? '';
}

async function tellOthers(values, candidate) {
  byId('others').hidden = values.question !== 'others';
  if (values.question !== 'others') return;
  const costs = await curves.call('summary_costs', {
    shape: candidate.shape, num_keys: candidate.num_keys, insertions_per_hour: values.replaced, num_nodes: values.nodes,
  });
  const rows = [
    ['A full copy, for a node that is new', bytes(costs.full_copy_bytes)],
    ['Deltas per hour, from each node', significant(costs.deltas_per_hour)],
    ['A delta', bytes(costs.delta_bytes)],
    ['Sent by a node, with heartbeats', `${bytes(costs.bytes_per_hour)} per hour`],
    ['Received by a node', `${bytes(costs.bytes_received_per_hour)} per hour`],
    ['Keys of a node that others do not know yet', count(costs.unknown_keys)],
    ['An absent key that some node seems to have', rate(costs.any_false_positive_rate)],
  ];
  byId('others-costs').replaceChildren(tableOf(`${count(values.nodes)} nodes, each with ${count(candidate.num_keys)} keys`, ['What', 'How much'], rows));
}

function moveMemory(memory, isDone) {
  if (!isDone) {
    byId('dragged').textContent = `Memory: ${bytes(memory)}`;
    return;
  }
  byId('dragged').textContent = '';
  if (memory === null) return;
  state.sizing = 'memory';
  state.memory = String(Math.round(memory));
  showState(state);
  update();
}

async function takeFile(file) {
  files.stop();
  state.repeats = 'file';
  state.histogram = null;
  showState(state);
  showFile(0, `Counting ${file.name} ...`);
  update();
  try {
    const pairs = await files.call('count_lines', { file }, (share) => showFile(share, `Counting ${file.name}: ${Math.floor(100 * share)}%`));
    const keys = pairs.reduce((sum, [, own]) => sum + own, 0);
    const lines = pairs.reduce((sum, [times, own]) => sum + times * own, 0);
    state.histogram = pairs;
    showFile(1, `${count(lines)} lines, ${count(keys)} different ones; the most frequent one ${count(pairs.at(-1)[0])} times.`);
    announce(`The file is counted: ${count(keys)} different lines.`);
  } catch (error) {
    if (error.message !== 'stopped') showFile(0, error.message);
    return;
  }
  update();
}

function startTheme() {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  byId('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    byId('theme').setAttribute('aria-pressed', String(isDark()));
    for (const chart of [byMemory, byKeys, failures]) chart.redraw();
    dispatchEvent(new Event('theme'));
  });
  byId('theme').setAttribute('aria-pressed', String(isDark()));
}

async function start() {
  byMemory = new LineChart(byId('by-memory'), moveMemory);
  byKeys = new LineChart(byId('by-keys'));
  failures = new LineChart(byId('failures'));
  makeForm(state, change, takeFile);
  startBelieve();
  startInside();
  startTheme();
  byId('print').addEventListener('click', () => print());
  byId('address').append(copyButton(() => location.href, 'address of this plan'));
  addEventListener('hashchange', () => {
    state = stateOfFragment(location.hash);
    showState(state);
    update();
  });
  // A file that is dropped beside its field would replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
  if (state.histogram) showFile(1, 'The counts are from the address.');
  kinds = Object.fromEntries((await planner.call('kinds', {})).map((own) => [own.name, own]));
  await answer();
  byId('version').textContent = (await planner.call('version', {})).version;
  startFigures(curves);
}

start().catch((error) => {
  byId('plan-error').textContent = `The page could not start: ${error.message}.`;
});
