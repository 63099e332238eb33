// The inside of a small filter: one adds and removes keys, and sees what changes.

import { announce, byId, make } from './elements.js';
import { Engine } from './engine.js';

const engine = new Engine();

/** Small shapes of each kind, with the scheme that files have by default. */
const small = {
  bloom: { kind: 'bloom', scheme: 'congruential', num_positions: 64, num_hashes: 3 },
  'counting-bloom': { kind: 'counting-bloom', scheme: 'congruential', num_positions: 64, num_hashes: 3, counter_bits: 4, threshold: 1 },
  threshold: { kind: 'threshold', scheme: 'congruential', num_positions: 64, num_hashes: 3, counter_bits: 2, threshold: 3, update: 'plain' },
  dleft: {
    kind: 'dleft', scheme: 'rotation', buckets_per_subtable: 4, num_subtables: 4, cells_per_bucket: 4, remainder_bits: 6,
    counter_bits: 2, least_remainder_bits: 6, num_doublings: 0, spill_capacity: 8, moves: 'none', grows: false,
  },
};

/** The kind that shows what this one does. */
const shownAs = {
  'blocked-bloom': 'bloom', 'blocked-counting-bloom': 'counting-bloom', 'compact-dleft': 'dleft', 'count-min': 'counting-bloom',
};

const explanations = {
  bloom: 'A key sets 3 of 64 bits. A lookup says yes if all 3 are set, also if other keys set them.',
  'counting-bloom': 'A key adds 1 to 3 of 64 counters, and a removal takes it away. The smallest of the 3 is the count.',
  threshold: 'A key adds 1 to 3 of 64 counters of 2 bits, which end at 3. A lookup says yes if all 3 are at 3.',
  dleft: 'A key has one bucket in each of 4 subtables. Its remainder goes to a cell of the emptiest one, the leftmost of several. A lookup looks for the remainder in all 4 buckets.',
};

let handle;
let kind;
let isReaders = false; // the reader has chosen the kind, or added a key: plans no longer change it
let before;

let last = Promise.resolve();
/** Runs one after the other, so that a new filter and keys for the old one never mix. Shows what a run throws. */
function inTurn(run) {
  last = last.then(run).catch((error) => {
    byId('inside-result').textContent = `${error.message}.`;
  });
}

/** Begins anew with a small filter of this kind. */
export function showInside(kindOfPlan) {
  if (isReaders) return;
  const next = shownAs[kindOfPlan] ?? kindOfPlan;
  if (next === kind && handle !== undefined) return;
  kind = next;
  byId('inside-kind').value = kind;
  inTurn(restart);
}

async function restart() {
  if (handle !== undefined) await engine.call('filter_free', { handle });
  handle = undefined;
  ({ handle } = await engine.call('filter_new', { shape: small[kind], seed: 1 }));
  before = undefined;
  byId('inside-explanation').textContent = explanations[kind];
  byId('inside-result').textContent = 'It is empty.';
  byId('inside-remove').disabled = kind === 'bloom' || kind === 'threshold';
  await redraw({});
}

const words = {
  filter_insert: { counted: 'is in it', saturated: 'is in it; a counter is at its maximum', full: 'does not fit: the filter is full' },
  filter_remove: { removed: 'is removed', saturated: 'is removed; a counter at its maximum stays', refused: 'was certainly not in it: refused' },
};

const yes = () => (kind === 'threshold' ? 'yes, it may have been added 3 times' : 'yes, it may be in it');
const no = () => (kind === 'threshold' ? 'no, certainly not 3 times' : 'no, certainly not');

function countText({ count, is_saturated }) {
  if (count === null) return '';
  return is_saturated ? `; its counter is at the maximum, ${count}` : `; its count is at most ${count}`;
}

async function act(name) {
  isReaders = true;
  const key = byId('inside-key').value;
  if (key === '' || handle === undefined) return;
  const found = await engine.call(name, { handle, key });
  const sentence =
    name === 'filter_query'
      ? `'${key}': ${found.contained ? yes() : no()}${countText(found)}.`
      : `'${key}' ${words[name][found.result]}.`;
  byId('inside-result').textContent = sentence;
  announce(sentence);
  await redraw(found);
}

async function redraw(touched) {
  const now = await engine.call('filter_dump', { handle });
  byId('inside-view').replaceChildren(now.subtables ? cellsOf(now, touched) : positionsOf(now, touched));
  before = now;
}

/** The cells of a row of positions: their values, which of them the key has, and which have changed. */
function positionsOf(now, touched) {
  const valuesOf = (dump) => dump.counters ?? [...dump.bits].map(Number);
  const values = valuesOf(now);
  const own = new Set(touched.places?.positions ?? []);
  const old = before ? valuesOf(before) : values;
  const cells = values.map((value, i) => cell(String(value), own.has(i), old[i] !== value, value !== 0, `position ${i}: ${value}`));
  return make('div', { class: 'cells', role: 'img', 'aria-label': `${values.filter((value) => value !== 0).length} of ${values.length} positions are above 0` }, ...cells);
}

function cellsOf(now, touched) {
  const own = new Set((touched.places?.candidates ?? []).map(({ subtable, bucket }) => `${subtable}/${bucket}`));
  let used = 0;
  const subtables = now.subtables.map((buckets, s) =>
    make('div', { class: 'subtable' }, make('p', {}, `Subtable ${s + 1}`),
      ...buckets.map((cells, b) => {
        const parts = cells.map((own_cell, c) => {
          const text = own_cell ? own_cell.remainder.toString(16).padStart(2, '0') : '';
          const old = before?.subtables[s][b][c];
          const hasChanged = before !== undefined && JSON.stringify(old) !== JSON.stringify(own_cell);
          used += own_cell ? 1 : 0;
          const label = own_cell && own_cell.count > 1 ? `${text}·${own_cell.count}` : text;
          return cell(label, false, hasChanged, Boolean(own_cell), own_cell ? `remainder ${text}, ${own_cell.count} times` : 'empty');
        });
        return make('div', { class: own.has(`${s}/${b}`) ? 'bucket is-own' : 'bucket' }, ...parts);
      })),
  );
  const all = now.subtables.flat(2).length;
  const spilled = now.spills.entries.map(({ remainder, count }) => cell(`${remainder.toString(16).padStart(2, '0')}${count > 1 ? `·${count}` : ''}`, false, false, true, `remainder ${remainder.toString(16)}, ${count} times`));
  const side = make('div', { class: 'subtable' }, make('p', {}, `Side table, ${spilled.length} of ${now.spills.capacity}`), make('div', { class: 'bucket' }, ...spilled));
  return make('div', { class: 'subtables', role: 'img', 'aria-label': `${used} of ${all} cells are used, and ${spilled.length} of the side table` }, ...subtables, side);
}

function cell(text, isOwn, hasChanged, isUsed, title) {
  const names = ['cell', isUsed && 'is-used', isOwn && 'is-own', hasChanged && 'has-changed'].filter(Boolean);
  return make('span', { class: names.join(' '), title }, text);
}

export function startInside() {
  byId('inside-add').addEventListener('click', () => inTurn(() => act('filter_insert')));
  byId('inside-remove').addEventListener('click', () => inTurn(() => act('filter_remove')));
  byId('inside-ask').addEventListener('click', () => inTurn(() => act('filter_query')));
  byId('inside-clear').addEventListener('click', () => inTurn(restart));
  byId('inside-kind').addEventListener('change', () => {
    isReaders = true;
    kind = byId('inside-kind').value;
    inTurn(restart);
  });
  byId('inside-form').addEventListener('submit', (event) => {
    event.preventDefault();
    inTurn(() => act('filter_insert'));
  });
}
