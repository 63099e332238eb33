// The page: questions, answers, charts, simulation, code.

import { isOnlyForAbsent, nameAll, sentence, showAnswers } from './answers.js';
import { believe, startBelieve } from './believe.js';
import { LineChart, spaced } from './charts.js';
import { languages } from './code.js';
import { announce, byId, copyButton, make, tableOf } from './elements.js';
import { Engine, latest } from './engine.js';
import { usesSketches } from './fields.js';
import { startFigures } from './figures.js';
import { makeForm, showErrors, showFile, showState } from './form.js';
import { showInside, startInside } from './inside.js';
import { bytes, count, counted, rate, shortCount, shortRate, significant } from './numbers.js';
import { checked, fragmentOf, requirementsOf, stateOfFragment } from './state.js';

const planner = new Engine();
const curves = new Engine();
const files = new Engine();

let state = stateOfFragment(location.hash);
let kinds = {};
let plan;
let changedAt = 0;  // of the change that is not answered yet, after the page was opened

const traitsOf = (candidate) => kinds[candidate.kind];
const chosen = () => plan.candidates.find((candidate) => candidate.name === state.chosen) ?? plan.candidates[0];

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
const answer = latest(planner, (progress) => showProgress('working', progress), async () => {
  const start = changedAt ?? performance.now();
  changedAt = undefined;
  const { values, errors } = checked(state);
  showErrors(errors);
  history.replaceState(null, '', `#${fragmentOf(state)}`);
  const isOld = Object.keys(errors).length > 0 || (state.repeats === 'file' && state.isCounting);
  byId('results').classList.toggle('is-old', isOld);
  byId('plan-error').textContent = '';
  if (isOld) return;
  try {
    const found = await planner.call('plan', requirementsOf(values, state.histogram));
    if (values.question === 'others') keepThoseToCopy(found);
    if (usesSketches(state)) await addSketches(found, values);
    nameAll(found.candidates);
    plan = found;
    showPlan(values);
    announce(`${chosen().name}: ${bytes(chosen().memory_bytes)}, error ${rate(chosen().false_positive_rate)}.`);
  } catch (error) {
    if (error.message === 'stopped') {
      changedAt ??= start;
      return;
    }
    byId('plan-error').textContent = sentence(error.message);
    byId('results').classList.add('is-old');
  }
  performance.measure('answer', { start });
});

/** The cursor of progress while an answer is calculated; grey, and a word, if that takes more than a moment. */
function showProgress(id, progress) {
  const { classList } = byId(id).closest('section');
  byId(id).textContent = progress === 'slow' ? 'Calculating ...' : '';
  classList.toggle('is-slow', progress === 'slow');
  classList.toggle('is-pending', progress !== 'done');
}

function keepThoseToCopy(found) {
  const recommended = found.candidates[0];
  found.candidates = found.candidates.filter((own) => kinds[own.kind].has_summary);
  if (found.candidates.length === 0) throw new Error('no structure that other nodes can copy meets the requirements');
  if (found.candidates[0] !== recommended) found.reason = `other nodes can have a copy of it, which they cannot of ${recommended.kind}`;
}

/** Sketches keep no keys: their error is a share of all insertions. */
async function addSketches(found, values) {
  let sketches;
  try {
    sketches = await planner.call('plan_sketch', values.sizing === 'memory' ? { memory_bytes: values.memory } : { epsilon: values.share });
  } catch (error) {
    if (error.message === 'stopped') throw error;
    found.warnings.push(`no sketch is listed: ${error.message}`);
    return;
  }
  const { num_keys } = found.candidates[0];
  for (const own of sketches.candidates) {
    found.candidates.push({
      ...own, num_keys, false_positive_rate: null, bits_per_key: (8 * own.memory_bytes) / num_keys,
      summary: `a count is too high by more than ${rate(own.epsilon)} of all insertions with probability ${rate(own.failure_probability)}`,
    });
  }
}

function showPlan(values) {
  showAnswers(plan, chosen(), traitsOf, (name) => {
    state.chosen = name === plan.candidates[0].name ? '' : name;
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

const number = (label, format, short, isLog = true) => ({ label, format, short, isLog });

let byMemory;
let byKeys;
let failures;

/** The planner's answers for less and for more memory, and the chosen structure with fewer and with more keys. */
const drawCurves = latest(curves, (progress) => showProgress('drawing', progress), async (values, candidate) => {
  const isSketch = candidate.kind === 'count-min';
  byId('curves').hidden = isSketch;
  byId('no-curves').hidden = !isSketch;
  try {
    await tellOthers(values, candidate);
    if (!isSketch) {
      await drawByKeys(values, candidate);
      await drawByMemory(values, candidate);
    }
    byId('curves-error').textContent = '';
  } catch (error) {
    if (error.message !== 'stopped') byId('curves-error').textContent = sentence(error.message);
  }
});

async function drawByMemory(values, candidate) {
  const memory = spaced(Math.max(64, candidate.memory_bytes / 4), candidate.memory_bytes * 4, 17).map(Math.round);
  const wanted = requirementsOf(values, state.histogram);
  delete wanted.false_positive_rate;
  delete wanted.memory_bytes;
  const series = [];
  for (const own of plan.candidates) {
    if (own.kind === 'count-min' || isOnlyForAbsent(own) || series.length === 8) continue;
    const { kind, scheme, num_subtables } = own.shape;
    const requirements = { ...wanted, scheme, ...(kind === 'dleft' ? { num_subtables } : {}) };
    const found = await curves.call('error_by_memory', { kind, requirements, memory_bytes: memory });
    series.push({ name: own.name, values: found.false_positive_rate, isChosen: own.name === candidate.name });
  }
  byMemory.show({
    x: { ...number('Memory', bytes, bytes), base: 2 }, y: number('Error', rate, shortRate), values: memory, series,
    point: { x: candidate.memory_bytes, y: candidate.false_positive_rate, text: `${bytes(candidate.memory_bytes)}, error ${rate(candidate.false_positive_rate)}` },
    summary: `${candidate.name} with ${bytes(candidate.memory_bytes)} has an error of ${rate(candidate.false_positive_rate)}. Each structure is planned anew for each memory; drag the point, or move it by the arrow keys, to give another memory.`,
  });
}

async function drawByKeys(values, candidate) {
  const keys = [...new Set(spaced(Math.max(1, candidate.num_keys / 8), candidate.num_keys * 4, 25).map(Math.round))];
  const all = [...keys, candidate.num_keys, 2 * candidate.num_keys];
  const found = await curves.call('error_by_keys', {
    shape: candidate.shape, num_keys: all, lifetime_operations: candidate.dleft?.lifetime_operations ?? 0,
  });
  const points = all.map((_, i) => ({ rate: found.false_positive_rate[i], law: found.law[i], failure: found.failure_probability[i] }));
  const [now, twice] = points.splice(-2);
  const isDLeft = points.some((point) => Number.isFinite(point.failure));
  byKeys.show({
    x: number('Keys', count, shortCount), y: number('Error', rate, shortRate), values: keys,
    series: [{ name: candidate.name, values: points.map((point) => point.rate), isChosen: true }],
    point: { x: candidate.num_keys, y: now.rate, text: count(candidate.num_keys) },
    summary: `With ${counted(candidate.num_keys, 'key')} the error is ${rate(now.rate)}, with twice as many ${rate(twice.rate)}${lawOf(now, candidate.shape)}.`,
  });
  byId('failures').hidden = !isDLeft;
  if (!isDLeft) return;
  failures.show({
    x: number('Keys', count, shortCount), y: { ...number('Probability of a refusal', significant, significant, false), range: [0, 1] }, values: keys,
    series: [{ name: 'any insertion is refused', values: points.map((point) => point.failure), isChosen: true }],
    summary: `With ${counted(candidate.num_keys, 'key')} some insertion is refused with a probability of at most ${rate(now.failure)}, with twice as many ${rate(twice.failure)}. The bound is the limit for many buckets, of a filter that moves no cells.`,
  });
}

/** The positions of a key are not independent of each other: a factor of at most about 1 + k^2 / (4 m). */
function limitText({ num_hashes, num_positions }) {
  return ` (a limit for large filters; of this one, up to ${rate(num_hashes ** 2 / (4 * num_positions))} of that more)`;
}

/** What is uncertain about a number whose formula is a limit. */
function lawOf(point, shape) {
  if (point.law === 'limit') return limitText(shape);
  return {
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
    ['A delta', costs.deltas_per_hour > 0 ? bytes(costs.delta_bytes) : '-'],
    ['Sent by a node to each other one, with heartbeats', `${bytes(costs.bytes_per_hour)} per hour`],
    ['Received by a node from all others', `${bytes(costs.bytes_received_per_hour)} per hour`],
    ['Keys of a node that others do not know yet', count(costs.unknown_keys)],
    ['An absent key that some node seems to have', rate(costs.any_false_positive_rate)],
  ];
  byId('others-costs').replaceChildren(tableOf(`${count(values.nodes)} nodes, each with ${count(candidate.num_keys)} keys`, ['What', 'How much'], rows));
}

function moveMemory(point, isDone) {
  byId('dragged').textContent = isDone ? '' : `Memory: ${bytes(point.x)}, error ${rate(point.y)}`;
  if (!isDone || point === null) return;
  state.sizing = 'memory';
  state.memory = String(Math.round(point.x));
  showState(state);
  update();
}

async function takeFile(file) {
  files.stop();
  state.repeats = 'file';
  state.histogram = null;
  state.isCounting = true;
  showState(state);
  showFile(0, `Counting ${file.name} ...`);
  update();
  try {
    const pairs = await files.call('count_lines', { file }, (share) => showFile(share, `Counting ${file.name}: ${Math.floor(100 * share)}%`));
    const keys = pairs.reduce((sum, [, own]) => sum + own, 0);
    const lines = pairs.reduce((sum, [times, own]) => sum + times * own, 0);
    state.histogram = pairs;
    state.isCounting = false;
    showFile(1, `${count(lines)} lines, ${count(keys)} different ones; the most frequent one ${count(pairs.at(-1)[0])} times.`);
    announce(`The file is counted: ${count(keys)} different lines.`);
  } catch (error) {
    if (error.message === 'stopped') return;
    state.isCounting = false;
    showFile(0, error.message);
  }
  update();
}

function redrawCharts() {
  for (const chart of [byMemory, byKeys, failures]) chart.redraw();
}

function startTheme() {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  byId('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    byId('theme').setAttribute('aria-pressed', String(isDark()));
    redrawCharts();
    dispatchEvent(new Event('theme'));
  });
  byId('theme').setAttribute('aria-pressed', String(isDark()));
}

function tellOfFile() {
  if (state.histogram) showFile(1, 'The counts are from the address.');
  else showFile(0, 'No file is counted yet.');
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
  for (const type of ['beforeprint', 'afterprint']) addEventListener(type, redrawCharts);
  byId('address').append(copyButton(() => location.href, 'address of this plan'));
  // The link to the answer is no address of a plan.
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('answers').focus();
  });
  addEventListener('hashchange', () => {
    files.stop();
    state = stateOfFragment(location.hash);
    showState(state);
    tellOfFile();
    update();
  });
  // A file that is dropped beside its field would replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
  tellOfFile();
  kinds = Object.fromEntries((await planner.call('kinds', {})).map((own) => [own.name, own]));
  await answer();
  byId('version').textContent = (await planner.call('version', {})).version;
  startFigures(new Engine());
}

start().catch((error) => {
  byId('plan-error').textContent = `The page could not start: ${error.message}.`;
});
