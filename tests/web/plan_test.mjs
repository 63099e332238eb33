// 300 requests at random: the module of the page plans what the command plans. Usage: node plan_test.mjs WASM
// Environment: TALLY_COMMAND; without it, nothing is compared.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from '../../web/js/tally.js';

const command = process.env.TALLY_COMMAND;
const tally = await load(readFileSync(process.argv[2]));

let state = 20261127;
/** SplitMix's smaller relative: a number in [0, 1), the same in every run. */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let x = Math.imul(state ^ (state >>> 15), 1 | state);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const one = (list) => list[Math.floor(random() * list.length)];
const logUniform = (least, most) => least * (most / least) ** random();

/** {request, flags}: the same requirements for the module and for the command. */
function requirements() {
  const request = {};
  const flags = [];
  const give = (name, value, ...words) => {
    request[name] = value;
    flags.push(...words);
  };
  const keys = Math.round(logUniform(10, 1e9));
  const theta = one([1, 1, 1, 2, 3, 10, 100]);
  const isZipf = random() < 0.15;
  if (isZipf) {
    const zipf = { num_keys: Math.min(keys, 1e6), exponent: Number((2 * random()).toFixed(2)), num_insertions: Math.min(keys, 1e6) * 5 };
    give('zipf', zipf, '--keys', zipf.num_keys, '--zipf', zipf.exponent, '--insertions', zipf.num_insertions);
  } else {
    give('num_keys', keys, '--keys', keys);
  }
  if (random() < 0.6) {
    const rate = Number(logUniform(1e-9, 0.3).toPrecision(3));
    give('false_positive_rate', rate, '-p', rate);
  } else {
    const bytes = Math.max(8, Math.round((keys * logUniform(2, 64)) / 8));
    give('memory_bytes', bytes, '-m', bytes);
  }
  if (theta > 1) give('threshold', theta, '--threshold', theta);
  if (random() < 0.3) give('needs_deletes', true, '--deletes');
  if (random() < 0.2) give('needs_counts', true, '--counts');
  if (random() < 0.2) give('keys_repeat', false, '--unique-keys');
  if (!isZipf && random() < 0.2) give('num_insertions', keys * 4, '--insertions', keys * 4);
  const preference = one(['', '', 'fastest', 'smallest', 'balanced']);
  if (preference) give('preference', preference, `--${preference}`);
  return { request, flags: flags.map(String) };
}

/** Whether both agree to 1e-9, and texts but for the numbers in them. */
function compare(own, other, path) {
  if (typeof own === 'number' && typeof other === 'number') {
    // A cost in percent is the difference of two nearly equal numbers, to which the 1e-9 applies.
    const largest = path.endsWith('_percent') ? 100 : Math.max(Math.abs(own), Math.abs(other));
    assert.ok(own === other || Math.abs(own - other) <= 1e-9 * largest || largest < 1e-300, `${path}: ${own} and ${other}`);
  } else if (own !== null && typeof own === 'object') {
    assert.deepEqual(Object.keys(own), Object.keys(other ?? {}), path);
    for (const key of Object.keys(own)) compare(own[key], other[key], `${path}.${key}`);
  } else if (typeof own === 'string' && !/\.(reason|summary|warnings\.\d+)$/.test(path)) {
    assert.equal(own, other, path);
  } else {
    assert.equal(typeof own, typeof other, path);
  }
}

let numPlanned = 0;
let numRefused = 0;
for (let i = 0; i < 300 && command; ++i) {
  const { request, flags } = requirements();
  let theirs;
  try {
    theirs = JSON.parse(execFileSync(command, ['plan', ...flags, '--json'], { stdio: ['ignore', 'pipe', 'pipe'] }));
  } catch (error) {
    assert.throws(() => tally.call('plan', request), (own) => own.message !== '', `${JSON.stringify(request)}: ${error.stderr}`);
    ++numRefused;
    continue;
  }
  const own = tally.call('plan', request);
  assert.equal(own.recommended, theirs.recommended, JSON.stringify(request));
  compare(own, theirs, `${flags.join(' ')}: plan`);
  ++numPlanned;
}
console.log(command ? `ok: ${numPlanned} plans are those of the command, and ${numRefused} are refused by both` : 'skipped: TALLY_COMMAND is not set');
assert.ok(!command || numPlanned >= 200);
