// Every input of the page: its label, unit, range, default and a sentence. The form, the state in the address and the
// checks are all made from this table.

import { parseBytes, parseCounts, parseRate, parseReal, parseWhole } from './numbers.js';

const isNot = (...questions) => (state) => !questions.includes(state.question);
const isOnly = (...questions) => (state) => questions.includes(state.question);
/** Sketches count, and remove nothing. */
export const usesSketches = (state) => state.question === 'often' && !state.deletes;
const repeatsAre = (...choices) => (state) => choices.includes(state.repeats);

export const fields = [
  {
    name: 'question', type: 'choice', label: 'What do you want to know?', initial: 'seen',
    options: [
      ['seen', 'Have I seen this key?'],
      ['often', 'How often have I seen it?'],
      ['times', 'Have I seen it N times?'],
      ['others', 'Who else has this key?'],
    ],
    help: 'The answer is always yes for keys that are in it. The error is a yes for another key.',
  },
  {
    name: 'keys', type: 'text', label: 'Distinct keys', unit: 'keys', initial: '1M',
    parse: parseWhole, least: 1, most: 2 ** 40, shown: repeatsAre('unknown', 'evenly', 'zipf'),
    help: 'The most that are in it at any one time: 1 to 2^40. 10M, 1e7 and 10,000,000 are the same.',
  },
  {
    name: 'times', type: 'text', label: 'N', unit: 'times', initial: '3',
    parse: parseWhole, least: 2, most: 65535, shown: isOnly('times'),
    help: 'How often a key must have come for a yes: 2 to 65,535.',
  },
  {
    name: 'sizing', type: 'choice', label: 'What is given?', initial: 'error',
    options: [['error', 'the error'], ['memory', 'the memory']],
    help: 'The other one follows.',
  },
  {
    name: 'error', type: 'text', label: 'Error', unit: 'share', initial: '1%',
    parse: parseRate, least: 1e-12, most: 0.5, shown: (state) => state.sizing === 'error',
    help: 'Of other keys (those that were not inserted, or fewer than N times), how many may get a yes when all keys are in it: 1%, 0.01 or 1 in 100; from 1e-12 to 50%.',
  },
  {
    name: 'memory', type: 'text', label: 'Memory', unit: 'bytes', initial: '1 MiB',
    parse: parseBytes, least: 8, most: 2 ** 40, shown: (state) => state.sizing === 'memory',
    help: 'It is never exceeded: 8 bytes to 1 TiB, such as 64 kB or 16 MiB.',
  },
  {
    name: 'deletes', type: 'check', label: 'Keys are removed, too', initial: false,
    help: 'Only keys that were inserted may be removed.',
  },
  {
    name: 'single', type: 'check', label: 'No key is in it twice at once', initial: false, shown: isNot('often', 'times'),
    help: 'Then counters may be narrower.',
  },
  {
    name: 'repeats', type: 'choice', label: 'How often do keys repeat?', initial: 'unknown',
    options: [['unknown', 'I do not know'], ['evenly', 'about equally often'], ['zipf', 'a few very often'], ['counts', 'with typical counts'], ['file', 'as in a file']],
    help: 'A rate that holds however keys repeat takes more memory than one for counts that are known.',
  },
  {
    name: 'insertions', type: 'text', label: 'Insertions in all', unit: 'insertions', initial: '3M',
    parse: parseWhole, least: 1, most: 2 ** 50, shown: repeatsAre('evenly', 'zipf'),
    help: 'With those of keys that repeat: at least the number of keys, at most 2^50.',
  },
  {
    name: 'exponent', type: 'text', label: "Exponent of Zipf's law", unit: 'exponent', initial: '1',
    parse: parseReal, least: 0, most: 20, shown: repeatsAre('zipf'),
    help: 'The key of rank r comes in proportion to 1/r^exponent: 0 to 20. Words of a language have about 1.',
  },
  {
    name: 'counts', type: 'text', label: 'Typical counts', unit: 'times:keys', initial: '1:900k 2:80k 10:20k', maxLength: 1000,
    parse: parseCounts, least: 1, most: 2 ** 40, shown: repeatsAre('counts'),
    help: 'How many keys come how often: 1:900k 10:20k means 900,000 keys once and 20,000 keys ten times. Each number: 1 to 2^40.',
  },
  {
    name: 'file', type: 'file', label: 'A file with one key per line', initial: '', shown: repeatsAre('file'),
    help: 'Choose it or drop it here. Its lines are counted on this machine; nothing is sent anywhere.',
  },
  {
    name: 'share', type: 'text', label: 'Error of a count', unit: 'share of all insertions', initial: '0.01%',
    parse: parseRate, least: 1e-9, most: 0.5, shown: (state) => usesSketches(state) && state.sizing === 'error',
    help: 'For sketches that keep no keys: how much too high a count may be, as a share of all insertions; 1e-9 to 50%.',
  },
  {
    name: 'nodes', type: 'text', label: 'Nodes', unit: 'nodes', initial: '16',
    parse: parseWhole, least: 2, most: 100000, shown: isOnly('others'),
    help: 'How many machines tell each other which keys they have: 2 to 100,000.',
  },
  {
    name: 'replaced', type: 'text', label: 'Keys replaced per hour', unit: 'keys per hour', initial: '60k',
    parse: parseWhole, least: 0, most: 2 ** 40, shown: isOnly('others'),
    help: 'On each node: how many keys leave, and as many new ones come, 0 to 2^40. If any leave, the node needs a structure with removals.',
  },
  {
    name: 'preference', type: 'choice', label: 'What matters more?', initial: 'none',
    options: [['none', 'what suits best'], ['smallest', 'memory'], ['fastest', 'speed'], ['balanced', 'both']],
    help: 'It changes the order of the structures, never their sizes.',
  },
];

/** Of a text that a reader enters, or that an address has. */
export const mostCharacters = (field) => field.maxLength ?? 100;

export const fieldNamed = (name) => fields.find((field) => field.name === name);

export function isShown(field, state) {
  return field.shown === undefined || field.shown(state);
}
