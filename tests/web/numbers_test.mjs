// What the page takes for numbers, and the state in its address. Usage: node numbers_test.mjs

import assert from 'node:assert/strict';
import { fields } from '../../web/page/fields.js';
import { bytes, count, counted, parseBytes, parseCounts, parseRate, parseReal, parseWhole, rate, shortCount, shortRate, significant } from '../../web/page/numbers.js';
import { checked, fragmentOf, initialState, requirementsOf, stateOfFragment } from '../../web/page/state.js';

const all = { least: 0, most: 2 ** 53 };

for (const [text, value] of [['1', 1], ['1M', 1e6], ['10 000', 1e4], ['1,000,000', 1e6], ['1e6', 1e6], ['1.5k', 1500], [' 7 ', 7], ['2T', 2e12], ['4.1M', 4.1e6], ['1.005M', 1005000], ['16.1k', 16100]])
  assert.deepEqual(parseWhole(text, all), { value }, text);
for (const text of ['', ' ', '-1', '1.5', 'NaN', 'Infinity', '1e400', '0x10', '1..2', '1k1', '1,0', 'e5', '1 in 2'])
  assert.ok(parseWhole(text, all).error, `'${text}' is taken for a number`);

for (const [text, value] of [['64', 64], ['1 KiB', 1024], ['1kB', 1000], ['16MiB', 2 ** 24], ['1.5 GiB', 1.5 * 2 ** 30]])
  assert.deepEqual(parseBytes(text, all), { value }, text);

const shares = { least: 1e-12, most: 0.5 };
for (const [text, value] of [['1%', 0.01], ['1 in 100', 0.01], ['1/1M', 1e-6], ['1e-6', 1e-6], ['0.01', 0.01], ['1 in 10,000', 1e-4]])
  assert.ok(Math.abs(parseRate(text, shares).value / value - 1) < 1e-12, text);
for (const text of ['', '0', '1', '100%', '1 in 0', '1 in', '%', '-1%', '1e-13', '1 in 1e400'])
  assert.ok(parseRate(text, shares).error, `'${text}' is taken for a share`);

assert.equal(parseReal('1.1', { least: 0, most: 20 }).value, 1.1);
assert.ok(parseReal('21', { least: 0, most: 20 }).error);

assert.deepEqual(parseCounts(' 10:20k 1:900,000  2:5', { least: 1, most: 2 ** 40 }).value, [[1, 900000], [2, 5], [10, 20000]]);
for (const text of ['', '5', '1:', ':1', '1:2:3', '0:1', '1:0', '1:1 1:2', '1:x', '1:-1', '1:1e13'])
  assert.ok(parseCounts(text, { least: 1, most: 2 ** 40 }).error, `'${text}' is taken for counts`);

// What is shown is never NaN, and is read as nearly the same number.
for (const show of [bytes, count, rate, significant])
  for (const value of [NaN, Infinity, -Infinity, undefined, null]) assert.equal(show(value), '-');
for (let exponent = -11; exponent < -0.4; exponent += 0.37) {
  const value = 10 ** exponent;
  assert.ok(Math.abs(parseRate(rate(value), shares).value / value - 1) < 0.006, rate(value));
}
for (let exponent = 1; exponent < 12; exponent += 0.41) {
  const value = Math.round(10 ** exponent);
  assert.equal(parseWhole(count(value), all).value, value);
  assert.ok(Math.abs(parseBytes(bytes(value), all).value / value - 1) < 0.001, bytes(value));
}

for (let i = 1; i < 20000; ++i) assert.equal(parseWhole(`${i / 1000}M`, all).value, 1000 * i);
assert.equal(shortCount(999999), '1M');
assert.equal(shortCount(12500), '12.5k');
assert.equal(shortRate(1e-12), '1e-12');
assert.equal(counted(1, 'key'), '1 key');
assert.equal(counted(1000, 'key'), '1,000 keys');

// Every field has what it needs, and its default is right.
for (const field of fields) {
  assert.ok(field.label && field.help, field.name);
  if (field.type === 'text') {
    assert.ok(field.unit, field.name);
    assert.equal(field.parse(field.initial, field).error, undefined, field.name);
  }
}
assert.deepEqual(checked(initialState()).errors, {});
assert.deepEqual(requirementsOf(checked(initialState()).values, null), { false_positive_rate: 0.01, num_keys: 1e6 });

// The address holds the state, and nothing else.
assert.equal(fragmentOf(initialState()), '');
const state = { ...initialState(), question: 'times', times: '7', error: '1 in 500', deletes: true, chosen: 'dleft 4 x 8' };
assert.deepEqual(stateOfFragment(`#${fragmentOf(state)}`), state);
const typical = { ...initialState(), repeats: 'counts', counts: '1:500 7:3' };
assert.deepEqual(stateOfFragment(`#${fragmentOf(typical)}`), typical);
assert.deepEqual(requirementsOf(checked(typical).values, null).histogram, [[1, 500], [7, 3]]);
const ofFile = { ...initialState(), repeats: 'file', histogram: [[1, 500], [7, 3]] };
assert.deepEqual(stateOfFragment(`#${fragmentOf(ofFile)}`), ofFile);
for (const text of ['1:2:3', '2:1 1:1', '1:0', '0:1', '1:-1', 'x', '1:1e400', '1:1 1:1'])
  assert.equal(stateOfFragment(`#repeats=file&histogram=${text}`).histogram, null, text);

console.log('ok: numbers, fields and the state in the address');
