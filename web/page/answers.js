// The recommended structure, and the table of all candidates.

import { byId, make } from './elements.js';
import { bytes, count, counted, rate, significant } from './numbers.js';

/** Gives each candidate a name, no two alike, that stays the same while sizes change: "dleft 4 x 8". */
export function nameAll(candidates) {
  const names = new Set();
  for (const candidate of candidates) {
    const { remainder_bits, counter_bits } = candidate.shape;
    candidate.name = usualName(candidate);
    if (names.has(candidate.name)) candidate.name += ` with ${remainder_bits + counter_bits} bits per cell`;
    names.add(candidate.name);
  }
}

function usualName(candidate) {
  const { kind, scheme, num_subtables, cells_per_bucket } = candidate.shape;
  if (kind === 'dleft') {
    const unmoved = candidate.dleft?.max_moves_per_insertion === 0 ? ' without moves' : '';
    return `dleft ${num_subtables} x ${cells_per_bucket}${unmoved}`;
  }
  if (scheme === 'register-blocked') return 'blocked-bloom register-blocked';
  if (kind === 'count-min') return `count-min ${scheme}`;
  return isOnlyForAbsent(candidate) ? `${kind} for absent keys` : kind;
}

/** Whether the error is promised only for keys that were never inserted, although N is larger than 1. */
export const isOnlyForAbsent = (candidate) => candidate.promised_true_count === 0 && candidate.errors?.length > 1;
const lastError = (candidate) => candidate.errors?.at(-1);

const yes = (value) => (value ? 'yes' : 'no');

/** For which keys the error holds. */
function lawText(candidate) {
  const last = lastError(candidate);
  if (isOnlyForAbsent(candidate))
    return `The error is that of keys that were never inserted. Keys that were inserted ${counted(last.true_count, 'time')} pass with ${rate(last.false_positive_rate)}. `;
  return {
    bound: 'The error is at most this, however often keys repeat. ',
    histogram: 'The error holds for these counts. ',
    conservative: 'The error holds for these counts with conservative update, if keys come in random order. ',
    insertions: 'The error holds if keys repeat about equally often. ',
  }[candidate.error_law] ?? '';
}

function whenFull(candidate, traits) {
  if (candidate.kind === 'count-min') return 'never full';
  if (candidate.dleft) return `insert returns full: ${rate(candidate.dleft.failure_probability)} in its life`;
  if (traits.can_fill_up) return 'insert returns full';
  return traits.can_remove || candidate.shape.counter_bits > 1 ? 'never full; the error grows, and counters stay at their maximum' : 'never full; the error grows';
}

/** Columns: name, text of a candidate, value to sort by, and whether a plan has the column. */
const allColumns = [
  ['Structure', (own) => own.name, (own) => own.name],
  ['Memory', (own) => bytes(own.memory_bytes), (own) => own.memory_bytes],
  ['Bits per key', (own) => significant(own.bits_per_key), (own) => own.bits_per_key],
  ['Error', (own) => rate(own.false_positive_rate), (own) => own.false_positive_rate],
  ['Error just below N', (own) => rate(lastError(own)?.false_positive_rate), (own) => lastError(own)?.false_positive_rate ?? 0, (plan) => plan.candidates.some((own) => own.errors?.length > 1)],
  ['Lines per insert', (own) => significant(own.cache_lines?.insert), (own) => own.cache_lines?.insert ?? 0],
  ['Lines per lookup', (own) => significant(own.cache_lines?.lookup_absent), (own) => own.cache_lines?.lookup_absent ?? 0],
  ['Deletes', (own, traits) => yes(traits.can_remove), (own, traits) => yes(traits.can_remove)],
  ['Counts', (own, traits) => yes(traits.can_count), (own, traits) => yes(traits.can_count)],
  ['Merges', (own, traits) => (traits.can_fill_up ? 'if both fit' : 'yes'), (own, traits) => yes(!traits.can_fill_up)],
  ['When full', whenFull, whenFull],
];

let order = { column: '', descending: false };

/** Shows the plan; onChoose(name) is called when another candidate is chosen. */
export function showAnswers(plan, chosen, traitsOf, onChoose) {
  showRecommended(plan, chosen, traitsOf);
  showTable(plan, chosen, traitsOf, onChoose);
  byId('warnings').replaceChildren(...plan.warnings.map((warning) => make('li', {}, sentence(warning))));
}

export function sentence(text) {
  return text === '' ? '' : `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

function showRecommended(plan, chosen, traitsOf) {
  const recommended = plan.candidates[0];
  const isOther = chosen.name !== recommended.name;
  const facts = [
    ['Memory', bytes, chosen.memory_bytes],
    ['Bits per key', significant, chosen.bits_per_key],
    ['Error', rate, chosen.false_positive_rate],
    ['Keys', count, chosen.num_keys],
  ];
  byId('recommended').replaceChildren(
    make('p', { class: 'kicker' }, isOther ? `Chosen, in place of ${recommended.name}` : 'Recommended'),
    make('p', { class: 'name', id: 'chosen-name' }, chosen.name),
    make('dl', { class: 'facts' }, ...facts.map(([name, text, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, make('data', { value }, text(value)))))),
    make('p', { class: 'reason' }, isOther ? sentence(chosen.summary ?? '') : sentence(`because ${plan.reason}`)),
    make('p', { class: 'law' }, `${lawText(chosen)}Formula: ${chosen.source}.`),
    make('p', { class: 'law' }, `A hash table of digests would take about ${bytes(plan.exact_table_bytes)}. ${sentence(`structure in code: ${traitsOf(chosen).structure}`)}`),
  );
}

function showTable(plan, chosen, traitsOf, onChoose) {
  const columns = allColumns.filter(([, , , isThere]) => isThere?.(plan) ?? true);
  const sorted = [...plan.candidates];
  const sorting = columns.find(([name]) => name === order.column);
  if (sorting) {
    const value = sorting[2];
    sorted.sort((a, b) => {
      const [x, y] = [value(a, traitsOf(a)), value(b, traitsOf(b))];
      const less = typeof x === 'number' ? x - y : String(x).localeCompare(String(y));
      return order.descending ? -less : less;
    });
  }
  const again = () => showTable(plan, chosen, traitsOf, onChoose);
  const header = columns.map(([name], i) => {
    const is = order.column === name;
    const button = make('button', { type: 'button', onclick: () => {
      // Up, down, and the order of the planner again.
      order = is && order.descending ? { column: '', descending: false } : { column: name, descending: is };
      again();
      byId('candidates').querySelectorAll('th button')[i].focus();
    } }, name, make('span', { 'aria-hidden': 'true' }, is ? (order.descending ? ' ▼' : ' ▲') : ''));
    return make('th', { scope: 'col', 'aria-sort': is ? (order.descending ? 'descending' : 'ascending') : 'none' }, button);
  });
  const rows = sorted.map((candidate) => {
    const { name } = candidate;
    const traits = traitsOf(candidate);
    const radio = make('input', { type: 'radio', name: 'chosen', value: name, 'aria-label': `Choose ${name}`, onchange: () => onChoose(name) });
    radio.checked = name === chosen.name;
    const cells = columns.map(([label, text, value], i) =>
      i === 0
        ? make('th', { scope: 'row' }, make('label', {}, radio, ` ${text(candidate, traits)}`))
        : make('td', { 'data-label': label }, make('data', { value: value(candidate, traits) }, text(candidate, traits))),
    );
    return make('tr', { class: radio.checked ? 'is-chosen' : false }, ...cells);
  });
  // The rows are made anew, also that of the radio button that was just pressed.
  const hadFocus = document.activeElement?.name === 'chosen';
  byId('candidates').replaceChildren(
    make('caption', {}, 'Every structure that meets the requirements; choose one to see more of it'),
    make('thead', {}, make('tr', {}, ...header)),
    make('tbody', {}, ...rows),
  );
  if (hadFocus) byId('candidates').querySelector('input:checked').focus();
}
