// What the page knows: a text for every field. The address has what differs from the defaults, behind the '#'.

import { fields, fieldNamed, isShown, mostCharacters } from './fields.js';

export function initialState() {
  return { ...Object.fromEntries(fields.map((field) => [field.name, field.initial])), histogram: null, isCounting: false, chosen: '' };
}

/** Unknown names and values are left out: an address may come from anybody. */
export function stateOfFragment(fragment) {
  const state = initialState();
  for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, ''))) {
    const field = fieldNamed(name);
    if (name === 'histogram') {
      state.histogram = histogramOf(text);
    } else if (name === 'chosen') {
      state.chosen = /^[a-z0-9 -]{1,60}$/.test(text) ? text : '';
    } else if (field?.type === 'choice') {
      if (field.options.some(([value]) => value === text)) state[name] = text;
    } else if (field?.type === 'check') {
      state[name] = text === 'yes';
    } else if (field?.type === 'text') {
      state[name] = text.slice(0, mostCharacters(field));
    }
  }
  return state;
}

export function fragmentOf(state) {
  const list = new URLSearchParams();
  for (const field of fields) {
    const value = state[field.name];
    if (field.type === 'file' || value === field.initial || !isShown(field, state)) continue;
    list.set(field.name, field.type === 'check' ? 'yes' : value);
  }
  if (state.repeats === 'file' && state.histogram)
    list.set('histogram', state.histogram.map((pair) => pair.join(':')).join(' '));
  if (state.chosen) list.set('chosen', state.chosen);
  return list.toString();
}

const mostPairs = 20000;

/** "1:500 2:30": pairs of a count and its number of keys, by ascending count; null if it is anything else. */
function histogramOf(text) {
  const pairs = text.split(' ', mostPairs + 1).map((pair) => pair.split(':').map(Number));
  const isGood = pairs.every(
    ([count, keys, more], i) =>
      more === undefined && Number.isSafeInteger(count) && Number.isSafeInteger(keys) && keys > 0 && count > (i === 0 ? 0 : pairs[i - 1][0]),
  );
  return isGood && pairs.length <= mostPairs ? pairs : null;
}

/** {values, errors}: what is in the fields that are shown, as numbers, and sentences by field. */
export function checked(state) {
  const values = {};
  const errors = {};
  for (const field of fields) {
    if (!isShown(field, state)) continue;
    if (field.type === 'text') {
      const parsed = field.parse(state[field.name], field);
      if (parsed.error) errors[field.name] = `${field.label}: ${parsed.error}.`;
      else values[field.name] = parsed.value;
    } else if (field.type === 'file') {
      if (!state.histogram && !state.isCounting) errors.file = 'Choose a file, or drop one here.';
    } else {
      values[field.name] = state[field.name];
    }
  }
  if (!errors.insertions && !errors.keys && values.insertions < values.keys)
    errors.insertions = `Insertions in all: must be at least the ${state.keys} keys, each of which is inserted once.`;
  return { values, errors };
}

/** The arguments of "plan" for these values. */
export function requirementsOf(values, histogram) {
  const wanted = {};
  if (values.sizing === 'error') wanted.false_positive_rate = values.error;
  else wanted.memory_bytes = values.memory;
  if (values.repeats === 'file') wanted.histogram = histogram;
  else if (values.repeats === 'counts') wanted.histogram = values.counts;
  else if (values.repeats === 'zipf')
    wanted.zipf = { num_keys: values.keys, exponent: values.exponent, num_insertions: values.insertions };
  else wanted.num_keys = values.keys;
  if (values.repeats === 'evenly') wanted.num_insertions = values.insertions;
  if (values.question === 'often') wanted.needs_counts = true;
  if (values.question === 'times') wanted.threshold = values.times;
  if (values.deletes || (values.question === 'others' && values.replaced > 0)) wanted.needs_deletes = true;
  if (values.single) wanted.keys_repeat = false;
  if (values.preference !== 'none') wanted.preference = values.preference;
  return wanted;
}
