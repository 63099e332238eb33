// Requests at random, as a reader enters them in the page and as options of `tally plan`.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initialState } from '../../web/page/state.js';

let seed = 20261127;
/** A number in [0, 1), the same ones in every run (Mulberry32). */
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const one = (list) => list[Math.floor(random() * list.length)];
const logUniform = (least, most) => least * (most / least) ** random();

/** {state, flags, histogram}: the fields of the page; options; and a text for the option --histogram, or nothing. */
export function randomRequest() {
  const state = initialState();
  const flags = [];
  let histogram;
  const give = (name, value, ...words) => {
    state[name] = value;
    flags.push(...words);
  };
  state.repeats = one(['unknown', 'unknown', 'unknown', 'evenly', 'zipf', 'counts']);
  const keys = Math.round(logUniform(10, state.repeats === 'zipf' ? 1e5 : 1e9));
  if (state.repeats === 'counts') {
    const pairs = [[1, keys], [one([2, 3, 4]), Math.ceil(keys / 10)], [one([10, 100]), Math.ceil(keys / 100)]];
    give('counts', pairs.map((pair) => pair.join(':')).join(' '));
    histogram = pairs.map((pair) => `${pair.join(' ')}\n`).join('');
  } else {
    give('keys', String(keys), '--keys', keys);
  }
  if (state.repeats === 'evenly' || state.repeats === 'zipf') give('insertions', String(4 * keys), '--insertions', 4 * keys);
  if (state.repeats === 'zipf') {
    const exponent = (2 * random()).toFixed(2);
    give('exponent', exponent, '--zipf', exponent);
  }
  if (random() < 0.6) {
    const rate = logUniform(1e-9, 0.3).toPrecision(3);
    give('error', rate, '-p', rate);
  } else {
    const bytes = Math.max(8, Math.round((keys * logUniform(2, 64)) / 8));
    state.sizing = 'memory';
    give('memory', String(bytes), '-m', bytes);
  }
  state.question = one(['seen', 'seen', 'often', 'times', 'times']);
  if (state.question === 'often') flags.push('--counts');
  if (state.question === 'times') {
    const times = one([2, 3, 10, 100]);
    give('times', String(times), '--threshold', times);
  }
  if (random() < 0.3) give('deletes', true, '--deletes');
  if (state.question === 'seen' && random() < 0.3) give('single', true, '--unique-keys');
  const preference = one(['', '', 'fastest', 'smallest', 'balanced']);
  if (preference) give('preference', preference, `--${preference}`);
  return { state, flags: flags.map(String), histogram };
}

/** The plan of the command; null if it refuses. Kept in the directory TALLY_PLANS, if there is one, for the next test. */
export function planOfCommand(command, request) {
  const name = [...request.flags, request.histogram ?? ''].join(' ').replace(/\s+/g, '_');
  const kept = process.env.TALLY_PLANS && join(process.env.TALLY_PLANS, name);
  if (kept && existsSync(kept)) return JSON.parse(readFileSync(kept));
  const plan = askedPlan(command, request);
  if (kept) writeFileSync(kept, JSON.stringify(plan));
  return plan;
}

function askedPlan(command, { flags, histogram }) {
  const directory = mkdtempSync(join(tmpdir(), 'tally-plan-'));
  const file = join(directory, 'histogram');
  try {
    if (histogram) writeFileSync(file, histogram);
    const all = ['plan', ...flags, ...(histogram ? ['--histogram', file] : []), '--json'];
    return JSON.parse(execFileSync(command, all, { stdio: ['ignore', 'pipe', 'pipe'] }));
  } catch (error) {
    if (error.status === 2) return null;
    throw error;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Throws unless both numbers agree to 1e-9 of `largest`. */
export function near(own, other, what, largest = Math.max(Math.abs(own), Math.abs(other))) {
  assert.ok(own === other || Math.abs(own - other) <= 1e-9 * largest || largest < 1e-300, `${what}: ${own} and ${other}`);
}
