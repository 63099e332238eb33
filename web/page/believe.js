// A simulation of the chosen structure with real random keys, beside what the formula predicts.

import { announce, byId, make, tableOf } from './elements.js';
import { Engine } from './engine.js';
import { count, counted, parseWhole, rate } from './numbers.js';

const simulations = new Engine();
const mostKeys = 4e6;
const mostBytes = 512 * 2 ** 20;

let shape;
let planned;
let fits;
let current;  // the simulation that runs

/** The structure that is simulated next. */
export function believe(candidate, threshold) {
  planned = { num_keys: candidate.num_keys, threshold };
  shape = candidate.shape;
  fits = candidate.memory_bytes <= mostBytes && candidate.num_keys <= mostKeys;
  byId('simulation-note').textContent = fits
    ? `Fills ${candidate.kind} filters with ${count(candidate.num_keys)} random keys each, in a worker, and asks for keys that are in them and keys that are not.`
    : `This plan is too large for a page: a simulation takes at most ${count(mostKeys)} keys. Plan fewer keys with the same error, or run: tally verify.`;
  stop();
  byId('simulated').replaceChildren();
}

function stop() {
  current = undefined;
  simulations.stop();
  byId('simulate').disabled = !fits;
  byId('cancel').disabled = true;
  byId('simulation-progress').value = 0;
}

async function simulate() {
  const trials = parseWhole(byId('trials').value, { least: 2, most: 10000 });
  byId('trials-error').textContent = trials.error ? `Trials: ${trials.error}.` : '';
  byId('trials').setAttribute('aria-invalid', String(Boolean(trials.error)));
  if (trials.error) return;
  const own = {
    shape, num_keys: planned.num_keys, threshold: planned.threshold, num_trials: trials.value,
    num_queries: 100000, seed: crypto.getRandomValues(new Uint32Array(1))[0], confidence: 0.99,
  };
  current = own;
  byId('simulate').disabled = true;
  byId('cancel').disabled = false;
  byId('simulated').replaceChildren();
  announce('The simulation runs.');
  try {
    const found = await simulations.call('simulate', own, (done) => (byId('simulation-progress').value = done / own.num_trials));
    byId('simulation-progress').value = 1;
    show(found, own);
  } catch (error) {
    if (current === own) say(`${error.message}.`);
  }
  if (current !== own) return;
  byId('simulate').disabled = false;
  byId('cancel').disabled = true;
}

function say(sentence) {
  byId('simulated').replaceChildren(make('p', {}, sentence));
  announce(sentence);
}

function show(found, own) {
  if (found.was_full) {
    byId('simulated').replaceChildren(make('p', {}, 'A filter was full before all keys were in it; nothing was measured.'));
    return;
  }
  const rows = found.verdicts.map((verdict) => [
    verdict.true_count === 0 ? 'never inserted' : `inserted ${counted(verdict.true_count, 'time')}`,
    rate(verdict.measured), rate(verdict.predicted), `${rate(verdict.low)} to ${rate(verdict.high)}`,
    verdict.is_inside ? 'inside' : 'outside',
  ]);
  const allInside = found.verdicts.every((verdict) => verdict.is_inside);
  const tooFew = found.verdicts.some((verdict) => verdict.num_passed === 0 && verdict.high > 10 * verdict.predicted);
  const verdict = `${!allInside ? 'Measured and predicted differ by more than chance' : tooFew ? 'No false answer was met: too few keys were asked for to tell so small an error' : 'Measured and predicted agree'}; ${count(found.num_false_negatives)} of ${count(found.num_positives_checked)} inserted keys were missed.`;
  byId('simulated').replaceChildren(
    tableOf(`${count(own.num_trials)} filters of ${count(own.num_keys)} keys; limits of 99% for all rows together`,
      ['Keys', 'Measured error', 'Predicted', 'Limits of the measurement', 'The prediction is'], rows),
    make('p', { class: 'verdict' }, verdict),
  );
  announce(verdict);
}

export function startBelieve() {
  byId('simulate').addEventListener('click', simulate);
  byId('cancel').addEventListener('click', () => {
    stop();
    say('The simulation was stopped.');
  });
}
