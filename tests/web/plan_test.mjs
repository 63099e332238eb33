// 300 requests at random: the module of the page plans what the command plans. Usage: node plan_test.mjs WASM
// Environment: TALLY_COMMAND; without it, nothing is compared.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { load } from '../../web/js/tally.js';
import { checked, requirementsOf } from '../../web/page/state.js';
import { near, planOfCommand, randomRequest } from './random_requests.mjs';

const command = process.env.TALLY_COMMAND;
const tally = await load(readFileSync(process.argv[2]));

/** Whether both have the same fields and texts but for the numbers in those, and numbers that agree to 1e-9. */
function compare(own, other, path) {
  if (typeof own === 'number' && typeof other === 'number') {
    // A cost in percent is the difference of two nearly equal numbers, to which the 1e-9 applies; the logarithm of a rate may be
    // near 0, where the 1e-9 applies to the rate.
    let largest;
    if (path.endsWith('_percent')) largest = 100;
    else if (/\.ln_\w*$/.test(path)) largest = Math.max(1, Math.abs(own));
    near(own, other, path, largest);
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
  const request = randomRequest();
  const { values, errors } = checked(request.state);
  assert.deepEqual(errors, {}, request.flags.join(' '));
  const wanted = requirementsOf(values, null);
  const theirs = planOfCommand(command, request);
  if (theirs === null) {
    assert.throws(() => tally.call('plan', wanted), (own) => own.message !== '', request.flags.join(' '));
    ++numRefused;
    continue;
  }
  for (const only of ['merge', 'peers', 'window']) {  // questions that the page does not ask
    assert.equal(theirs[only], null);
    delete theirs[only];
  }
  compare(tally.call('plan', wanted), theirs, `${request.flags.join(' ')}: plan`);
  ++numPlanned;
}
console.log(command ? `ok: ${numPlanned} plans are those of the command, and ${numRefused} are refused by both` : 'skipped: TALLY_COMMAND is not set');
assert.ok(!command || numPlanned >= 200);
