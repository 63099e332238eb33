// Every function of the page's module, each with an answer that is checked, and every kind of argument that it refuses.
// Usage: node wasm_test.mjs WASM
// plan_test.mjs compares plans with those of the command.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { decompressed, load, TallyError } from '../../web/js/tally.js';

const bytes = readFileSync(process.argv[2]);
const tally = await load(bytes);
const call = tally.call;
let numTests = 0;

function test(name, run) {
  try {
    run();
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    throw error;
  }
  ++numTests;
}

/** Throws unless both differ by at most this share. */
function near(own, expected, share = 1e-12) {
  assert.ok(Math.abs(own - expected) <= share * Math.abs(expected), `${own} is not ${expected}`);
}

/** The call is refused, with a sentence that has these words. */
function refuses(name, args, words) {
  assert.throws(() => call(name, args), (error) => {
    assert.ok(error instanceof TallyError, `${name}: ${error.stack}`);
    assert.ok(error.message.includes(words), `${name}: '${error.message}' has no '${words}'`);
    return true;
  });
}

const bloom = { kind: 'bloom', scheme: 'congruential', num_positions: 9600, num_hashes: 7 };
const dleft = {
  kind: 'dleft', scheme: 'rotation', buckets_per_subtable: 64, num_subtables: 4, cells_per_bucket: 8, remainder_bits: 14,
  counter_bits: 2, least_remainder_bits: 14, num_doublings: 0, spill_capacity: 8, moves: 'search', grows: false,
};
const sketch = { kind: 'count-min', scheme: 'congruential', width: 100, depth: 3, num_copies: 1, counter_bits: 32, update: 'plain' };
const counting = { kind: 'counting-bloom', scheme: 'congruential', num_positions: 960, num_hashes: 4, counter_bits: 4, threshold: 3 };
const rateOf = (m, k, n) => (-Math.expm1(k * n * Math.log1p(-1 / m))) ** k;

test('the module needs three functions of JavaScript', () => {
  const names = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map((own) => own.name);
  assert.deepEqual(names.sort(), ['emscripten_notify_memory_growth', 'proc_exit', 'tally_progress']);
});

await (async () => {
  const unpacked = await decompressed(gzipSync(bytes).toString('base64'));
  assert.equal(Buffer.compare(Buffer.from(unpacked), bytes), 0);
  const other = await load(await WebAssembly.compile(unpacked));
  assert.deepEqual(other.call('version'), call('version'));
  ++numTests;
})();

test('version', () => assert.match(call('version').version, /^\d+\.\d+\.\d+$/));

test('plan', () => {
  const plan = call('plan', { num_keys: 1e6, false_positive_rate: 0.01 });
  assert.equal(plan.recommended, 'bloom');
  const [first] = plan.candidates;
  assert.equal(first.shape.num_hashes, 7);
  assert.ok(first.false_positive_rate <= 0.01 && first.false_positive_rate > 0.0099);
  near(first.false_positive_rate, rateOf(first.num_positions, 7, 1e6), 1e-9);
  assert.deepEqual(call('plan', { num_keys: 1e6, false_positive_rate: 0.01, threshold: null }), plan);
  const zipf = { num_keys: 1000, exponent: 0, num_insertions: 5000 };
  assert.ok(call('plan', { zipf, memory_bytes: 10000, threshold: 3 }).candidates[0].num_keys <= 1000);
});

test('a histogram as text and as pairs', () => {
  const rest = { false_positive_rate: 0.01, threshold: 4 };
  const text = call('plan', { histogram: '# counts\n1 1000\n\n 5 2e1\n0.3K 2\n', ...rest });
  assert.deepEqual(call('plan', { histogram: [[1, 1000], [5, 20], [300, 2]], ...rest }), text);
  assert.equal(text.candidates[0].num_keys, 1022);
  refuses('plan', { histogram: '1 2\n3\n', ...rest }, "'histogram', line 2: must be two numbers");
  refuses('plan', { histogram: '1 x', ...rest }, "'x' is not a number");
  refuses('plan', { histogram: '1.5 2', ...rest }, 'is not a whole number');
  refuses('plan', { histogram: '', ...rest }, 'contains no keys');
  refuses('plan', { histogram: [], ...rest }, "'histogram' is []");
  refuses('plan', { histogram: [[1, 2, 3]], ...rest }, "'histogram' is [1,2,3]");
  refuses('plan', { histogram: [[-1, 2]], ...rest }, "'histogram.count' is -1");
  refuses('plan', { histogram: [[1, 2]], num_keys: 3, ...rest }, 'leave out num_keys');
  refuses('plan', { histogram: [[1, 2]], zipf: {}, ...rest }, "'histogram' and 'zipf'");
});

test('requirements that are refused name the field', () => {
  const good = { num_keys: 1000, false_positive_rate: 0.01 };
  for (const value of [-1, 1.5, 2 ** 64, 1e300, '7', true, [], {}]) {
    refuses('plan', { ...good, num_keys: value }, "'num_keys' is ");
    refuses('plan', { ...good, counter_bits: value }, "'counter_bits' is ");
  }
  refuses('plan', { ...good, num_subtables: 2 ** 32 }, "'num_subtables' is 4294967296");
  for (const value of ['x', true, [1]]) refuses('plan', { ...good, false_positive_rate: value }, "'false_positive_rate' is ");
  for (const value of ['true', 1, {}]) refuses('plan', { ...good, needs_deletes: value }, "'needs_deletes' is ");
  for (const value of ['fast', 1]) refuses('plan', { ...good, preference: value }, 'must be fastest, smallest or balanced');
  refuses('plan', { ...good, update: 'Plain' }, 'must be plain or conservative');
  refuses('plan', { ...good, scheme: 1 }, "'scheme' is 1");
  refuses('plan', { ...good, scheme: 'none' }, 'none');
  refuses('plan', { ...good, num_key: 1 }, "no field 'num_key'");
  refuses('plan', { ...good, false_positive_rate: 2 }, 'false_positive_rate is 2');
  refuses('plan', { ...good, num_keys: 0 }, 'num_keys is 0');
  refuses('plan', { ...good, memory_bytes: 1000 }, 'exactly two');
  refuses('plan', {}, 'none is given');
  refuses('plan', { zipf: { num_keys: 10, exponent: 1 }, false_positive_rate: 0.1 }, "'zipf.num_insertions' is missing");
  refuses('plan', { zipf: 3, false_positive_rate: 0.1 }, "'zipf' is 3; must be an object");
  refuses('plan', [], 'the argument is []; must be an object');
});

test('what is no call', () => {
  refuses('nothing', {}, "there is no function 'nothing'; must be one of plan, ");
  refuses('', {}, "there is no function ''");
  let nested = {};
  for (let i = 0; i < 200; ++i) nested = { nested };
  refuses('plan', nested, 'nested more than 100 levels');
});

test('plan_sketch', () => {
  const plan = call('plan_sketch', { epsilon: 0.001, failure_probability: 0.01 });
  const [first, second] = plan.candidates;
  assert.deepEqual([first.shape.width, first.shape.depth], [2719, 5]);
  assert.deepEqual([second.scheme, second.shape.width], ['two-hash', 5437]);
  assert.equal(call('plan_sketch').candidates[0].shape.width, 27183);
  refuses('plan_sketch', { epsilon: 0.1, failure_probability: 0.1, memory_bytes: 1000 }, 'exactly two');
  refuses('plan_sketch', { num_keys: 1 }, "no field 'num_keys'");
});

test('error_by_keys', () => {
  const keys = [0, 1, 100, 1000, 100000];
  const curve = call('error_by_keys', { shape: bloom, num_keys: keys });
  assert.deepEqual(curve.law, ['exact', 'exact', 'exact', 'exact', 'exact']);
  const doubled = call('error_by_keys', { shape: { ...bloom, scheme: 'double' }, num_keys: [1000] });
  assert.equal(doubled.law[0], 'limit');  // counting would take too long
  assert.equal(curve.false_positive_rate[0], 0);
  near(curve.false_positive_rate[3], rateOf(9600, 7, 1000), 0.01);  // the exact law is above the simple one
  assert.ok(curve.false_positive_rate[3] > rateOf(9600, 7, 1000));
  assert.equal(curve.load[0], null);

  const cells = call('error_by_keys', { shape: dleft, num_keys: [0, 1024, 1500, 5000] });
  near(cells.load[1], 0.5, 0.001);
  near(cells.false_positive_rate[1], -Math.expm1(1024 * Math.log1p(-1 / (64 * 16383))), 1e-9);
  assert.ok(cells.failure_probability[1] < 1e-20 && cells.failure_probability[3] === 1);

  const bound = call('error_by_keys', { shape: counting, num_keys: [100] });
  assert.deepEqual([bound.threshold, bound.law[0]], [3, 'bound']);
  const known = call('error_by_keys', { shape: counting, num_keys: [100], insertions_per_key: 1 });
  assert.equal(known.law[0], 'independent');
  assert.ok(known.false_positive_rate[0] < bound.false_positive_rate[0]);
  const counts = call('error_by_keys', { shape: sketch, num_keys: [10, 1000], threshold: 12 });
  assert.ok(counts.false_positive_rate[0] < counts.false_positive_rate[1]);

  refuses('error_by_keys', { num_keys: [1] }, "'shape' is missing");
  refuses('error_by_keys', { shape: 1, num_keys: [1] }, "'shape' is 1");
  refuses('error_by_keys', { shape: { ...bloom, num_hashes: -1 }, num_keys: [1] }, "'shape': 'num_hashes' is -1");
  refuses('error_by_keys', { shape: { ...bloom, scheme: 'none' }, num_keys: [1] }, "'shape': ");
  refuses('error_by_keys', { shape: { ...bloom, kind: 'none' }, num_keys: [1] }, "'shape': ");
  refuses('error_by_keys', { shape: bloom, num_keys: [] }, "'num_keys' is []");
  refuses('error_by_keys', { shape: bloom, num_keys: [1, -2] }, "'num_keys' is -2");
  refuses('error_by_keys', { shape: bloom, num_keys: 5 }, "'num_keys' is 5");
  refuses('error_by_keys', { shape: bloom, num_keys: new Array(1001).fill(1) }, '1 to 1000 whole numbers');
  refuses('error_by_keys', { shape: bloom, num_keys: [1], threshold: 2 }, "'threshold' is 2");
  refuses('error_by_keys', { shape: counting, num_keys: [1], insertions_per_key: 0 }, "'insertions_per_key' is 0");
  refuses('error_by_keys', { shape: sketch, num_keys: [1] }, "'threshold' is missing");
});

test('error_by_memory', () => {
  const memories = [100, 10000, 12000, 20000];
  const curve = call('error_by_memory', { kind: 'bloom', requirements: { num_keys: 10000 }, memory_bytes: memories });
  assert.equal(curve.shape[2].num_positions, 96000);
  near(curve.false_positive_rate[2], rateOf(96000, 7, 10000), 0.001);
  assert.deepEqual(curve.num_keys, [10000, 10000, 10000, 10000]);
  for (const kind of ['blocked-bloom', 'counting-bloom', 'blocked-counting-bloom', 'threshold', 'dleft', 'compact-dleft']) {
    const requirements = { num_keys: 10000, keys_repeat: false, threshold: kind === 'threshold' ? 3 : 1 };
    const other = call('error_by_memory', { kind, requirements, memory_bytes: [1000, 40000, 80000] });
    assert.equal(other.error, null);
    assert.ok(other.false_positive_rate[1] > other.false_positive_rate[2] && other.used_bytes[2] <= 80000, kind);
  }
  const cells = call('error_by_memory', { kind: 'dleft', requirements: { num_keys: 10000 }, memory_bytes: [100] });
  assert.deepEqual([cells.shape, cells.false_positive_rate], [[null], [null]]);
  assert.match(cells.error, /memory_bytes is 100/);
  const keys = call('error_by_memory', { kind: 'bloom', requirements: { false_positive_rate: 0.01 }, memory_bytes: [10000] });
  assert.equal(keys.num_keys[0], 8339);
  refuses('error_by_memory', { kind: 'x', requirements: {}, memory_bytes: [1] }, "'x'");
  refuses('error_by_memory', { kind: 'count-min', requirements: {}, memory_bytes: [1] }, "'kind' is \"count-min\"");
  refuses('error_by_memory', { kind: 'bloom', memory_bytes: [1] }, "'requirements' is missing");
  refuses('error_by_memory', { kind: 'bloom', requirements: { memory_bytes: 1 }, memory_bytes: [1] }, "'requirements.memory_bytes'");
  refuses('error_by_memory', { kind: 'bloom', requirements: { num_keys: -1 }, memory_bytes: [1] }, "'requirements.num_keys' is -1");
});

test('summary_costs', () => {
  const args = { shape: { ...bloom, num_positions: 1e6 }, num_keys: 1e5, insertions_per_hour: 36000, delay_seconds: 1 };
  const costs = call('summary_costs', args);
  near(costs.seconds_between_deltas, 100);
  near(costs.unknown_keys, 509.5);  // the table of docs/summaries_sending.md
  near(costs.delta_bytes, 7500 + 128, 0.01);
  near(costs.full_copy_bytes, 125000 + 128);
  assert.equal(costs.heartbeats_per_hour, 720);
  near(costs.bytes_per_hour, 36 * costs.delta_bytes + 720 * 128);
  const four = call('summary_costs', { ...args, num_nodes: 4 });
  near(four.bytes_received_per_hour, 3 * costs.bytes_per_hour);
  near(four.any_false_positive_rate, 1 - (1 - costs.false_positive_rate) ** 3, 1e-9);
  const quiet = call('summary_costs', { ...args, insertions_per_hour: 0 });
  assert.deepEqual([quiet.seconds_between_deltas, quiet.deltas_per_hour, quiet.bytes_per_hour], [null, 0, 720 * 128]);
  const cells = call('summary_costs', { ...args, shape: { ...dleft, buckets_per_subtable: 4167 } });
  near(cells.delta_bytes, 4000, 0.05);  // docs/summaries_sending.md: 3.9 kB, and a header
  refuses('summary_costs', { ...args, shape: sketch }, 'has no summary');
  refuses('summary_costs', { ...args, num_keys: 0 }, "'num_keys' is 0");
  refuses('summary_costs', { ...args, num_nodes: 1 }, "'num_nodes' is 1");
  refuses('summary_costs', { ...args, heartbeat_seconds: 0 }, "'heartbeat_seconds' is 0");
  refuses('summary_costs', { ...args, insertions_per_hour: -1 }, 'must be');
  refuses('summary_costs', { shape: bloom, num_keys: 1 }, "'insertions_per_hour' is missing");
});

test('simulate', () => {
  const kinds = [bloom, dleft, counting, sketch,
    { kind: 'bloom', scheme: 'double', num_positions: 9600, num_hashes: 7 },
    { kind: 'blocked-bloom', scheme: 'register-blocked', num_positions: 10240, num_hashes: 8 },
    { kind: 'threshold', scheme: 'triple', num_positions: 4800, num_hashes: 3, counter_bits: 2, threshold: 3, update: 'plain' },
    { kind: 'blocked-counting-bloom', scheme: 'blocked', num_positions: 12800, num_hashes: 5, counter_bits: 4, threshold: 1 },
    { kind: 'compact-dleft', scheme: 'rotation', num_lines_per_subtable: 16, remainder_bits: 9, spill_capacity: 8, moves: 'search' }];
  for (const shape of kinds) {
    const found = call('simulate', { shape, num_keys: 500, num_trials: 40, num_queries: 5000, seed: 5, confidence: 0.999999 });
    assert.ok(found.is_good, `${JSON.stringify(shape)}: ${JSON.stringify(found)}`);
    assert.deepEqual([found.num_trials_done, found.num_false_negatives, found.was_full], [40, 0, false]);
    for (const verdict of found.verdicts) near(verdict.measured, verdict.num_passed / verdict.num_queries);
  }
  const twice = [1, 2].map(() => call('simulate', { shape: bloom, num_keys: 100, num_trials: 5, num_queries: 1000 }));
  assert.deepEqual(twice[0], twice[1]);
  assert.ok(call('simulate', { shape: dleft, num_keys: 5000, num_trials: 5 }).was_full);
  refuses('simulate', { shape: bloom }, "'num_keys' is missing");
  refuses('simulate', { shape: bloom, num_keys: 0 }, "'num_keys' is 0");
  refuses('simulate', { shape: bloom, num_keys: 2 ** 32 }, "'num_keys' is 4294967296");
  refuses('simulate', { shape: bloom, num_keys: 10, num_trials: 1 }, "'num_trials' is 1");
  refuses('simulate', { shape: bloom, num_keys: 10, num_queries: 2 ** 32 + 1 }, "'num_queries' is ");
  refuses('simulate', { shape: bloom, num_keys: 10, confidence: 1 }, 'confidence is 1');
  refuses('simulate', { shape: bloom, num_keys: 10, threshold: 2 }, 'threshold is 2');
});

test('a filter that is larger than the memory is refused, and nothing breaks', () => {
  for (const power of [33, 34, 36, 40, 55])
    refuses('simulate', { shape: { ...bloom, num_positions: 2 ** power }, num_keys: 10 }, 'not enough memory for simulate');
  assert.equal(call('plan', { num_keys: 10, false_positive_rate: 0.1 }).recommended, 'bloom');
});

test('a simulation tells its trials and can be stopped', () => {
  const seen = [];
  const watch = (numTrials) => void seen.push(numTrials);
  call('simulate', { shape: bloom, num_keys: 10, num_trials: 5, num_queries: 100 }, watch);
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
  const stopped = call('simulate', { shape: bloom, num_keys: 10, num_trials: 1e6, num_queries: 100 }, (numTrials) => numTrials === 50);
  assert.deepEqual([stopped.num_trials_done, stopped.verdicts[0].num_queries], [50, 5000]);
  const never = call('simulate', { shape: bloom, num_keys: 10, num_trials: 5, num_queries: 100 }, () => true);
  assert.deepEqual([never.num_trials_done, never.verdicts, never.is_good], [0, [], false]);
  const own = new Error('mine');
  const fail = () => { throw own; };
  assert.throws(() => call('simulate', { shape: bloom, num_keys: 10, num_trials: 5, num_queries: 100 }, fail), own);
});

test('positions of a filter are what its bits show', () => {
  const { handle, num_positions } = call('filter_new', { shape: { ...bloom, num_positions: 100, num_hashes: 3 } });
  assert.equal(num_positions, 100);
  assert.equal(call('filter_query', { handle, key: 'x' }).contained, false);
  const set = new Set();
  for (const key of ['one', 'two', '', '\u0000', '\u00e9\ud83d\ude00']) {
    const inserted = call('filter_insert', { handle, key });
    assert.deepEqual([inserted.result, inserted.contained, inserted.count], ['counted', true, null]);
    inserted.places.positions.forEach((position) => set.add(position));
  }
  const dump = call('filter_dump', { handle });
  assert.deepEqual([...dump.bits].flatMap((bit, i) => (bit === '1' ? [i] : [])), [...set].sort((a, b) => a - b));
  assert.equal(dump.totals.num_insertions, 5);
  assert.equal(dump.statistics.num_nonzero, set.size);
  assert.equal(call('filter_insert', { handle, key: 'one' }).was_contained, true);
  refuses('filter_remove', { handle, key: 'one' }, 'does not support this');
  assert.equal(call('filter_free', { handle }), null);
  refuses('filter_query', { handle, key: 'one' }, `'handle' is ${handle}`);
});

test('counters rise, fall and stay at their maximum', () => {
  const shape = { ...counting, num_positions: 64, counter_bits: 2, threshold: 1 };
  const { handle } = call('filter_new', { shape, seed: 3 });
  const results = [1, 2, 3, 4].map(() => call('filter_insert', { handle, key: 'a' }));
  assert.deepEqual(results.map((own) => own.result), ['counted', 'counted', 'saturated', 'saturated']);
  assert.deepEqual(results.map((own) => own.count), [1, 2, 3, 3]);
  const dump = call('filter_dump', { handle });
  assert.equal(dump.greatest, 3);
  results[0].places.positions.forEach((position) => assert.equal(dump.counters[position], 3));
  assert.equal(call('filter_remove', { handle, key: 'a' }).result, 'saturated');
  call('filter_insert', { handle, key: 'b' });
  assert.equal(call('filter_remove', { handle, key: 'never' }).result, 'refused');
  call('filter_free', { handle });
});

test('cells of a d-left filter', () => {
  const shape = { ...dleft, buckets_per_subtable: 2, num_subtables: 2, cells_per_bucket: 2, spill_capacity: 1 };
  const { handle } = call('filter_new', { shape });
  const first = call('filter_insert', { handle, key: 'a' });
  const { candidates, cell } = first.places;
  assert.equal(candidates.length, 2);
  let dump = call('filter_dump', { handle });
  const held = () => dump.subtables[cell.subtable][cell.bucket][cell.cell];
  assert.deepEqual(held(), { remainder: candidates[cell.subtable].remainder, count: 1 });
  for (let i = 0; i < 6; ++i) call('filter_insert', { handle, key: 'a' });
  dump = call('filter_dump', { handle });
  assert.equal(held().count, 4);
  assert.deepEqual(dump.spills.entries.map((entry) => entry.count), [3]);
  assert.equal(dump.spills.entries[0].bucket, candidates[0].bucket);
  assert.equal(call('filter_query', { handle, key: 'a' }).count, 7);
  assert.equal(call('filter_remove', { handle, key: 'a' }).count, 6);
  const results = new Set();
  for (let i = 0; i < 100; ++i) results.add(call('filter_insert', { handle, key: `key ${i}` }).result);
  assert.ok(results.has('full'));
  assert.ok(call('filter_dump', { handle }).totals.num_full > 0);
  call('filter_free', { handle });
});

test('lines of a compact filter, and rows of a sketch', () => {
  const shape = { kind: 'compact-dleft', scheme: 'rotation', num_lines_per_subtable: 4, remainder_bits: 9, spill_capacity: 4, moves: 'search' };
  const { handle } = call('filter_new', { shape });
  const { places } = call('filter_insert', { handle, key: 'a' });
  call('filter_insert', { handle, key: 'a' });
  const { lines } = call('filter_dump', { handle });
  const cells = places.candidates.flatMap(({ subtable, line }) => lines[subtable][line]);
  assert.deepEqual(cells, [{ mini_bucket: places.mini_bucket, remainder: places.remainder, num_cells: 2 }]);
  call('filter_free', { handle });

  const rows = call('filter_new', { shape: sketch });
  const { columns } = call('filter_insert', { handle: rows.handle, key: 'a' }).places;
  const { counters } = call('filter_dump', { handle: rows.handle });
  columns.forEach((column, row) => assert.equal(counters[100 * row + column], 1));
  assert.equal(counters.reduce((sum, value) => sum + value), 3);
  call('filter_free', { handle: rows.handle });
});

test('filters that are refused', () => {
  refuses('filter_new', {}, "'shape' is missing");
  refuses('filter_new', { shape: { ...bloom, num_positions: 2 ** 40 } }, 'must take at most 67108864');
  refuses('filter_new', { shape: bloom, seed: -1 }, "'seed' is -1");
  for (const name of ['filter_insert', 'filter_remove', 'filter_query', 'filter_dump', 'filter_free']) {
    refuses(name, {}, "'handle' is missing");
    refuses(name, { handle: 12345, key: 'x' }, "'handle' is 12345");
  }
  const { handle } = call('filter_new', { shape: bloom });
  refuses('filter_insert', { handle }, "'key' is missing");
  refuses('filter_insert', { handle, key: 7 }, "'key' is 7");
  refuses('filter_query', { handle, key: 'x', more: 1 }, "no field 'more'");
  refuses('filter_dump', { handle }, 'at most 4096');
  call('filter_free', { handle });
  const handles = Array.from({ length: 100 }, () => call('filter_new', { shape: bloom }).handle);
  refuses('filter_new', { shape: bloom }, 'there are 100 filters');
  handles.forEach((own) => call('filter_free', { handle: own }));
});

test('theory', () => {
  const value = (name, args) => call('theory', { name, arguments: args });
  near(value('bloom_false_positive_rate', { m: 9600, k: 7, n: 1000 }), rateOf(9600, 7, 1000));
  const rates = value('bloom_false_positive_rate', { m: 9600, k: [1, 2, 3], n: [1000, 2000, 3000] });
  rates.forEach((rate, i) => near(rate, rateOf(9600, i + 1, 1000 * (i + 1))));
  assert.equal(value('bloom_best_num_hashes', { m: 9600, n: 1000 }), 7);
  near(value('bloom_best_false_positive_rate', { m: 9600, n: 1000 }), Math.exp(-9.6 * Math.LN2 ** 2));
  near(value('bloom_partitioned_false_positive_rate', { m: 700, k: 7, n: 50 }), (-Math.expm1(50 * Math.log1p(-0.01))) ** 7);
  const blocked = value('blocked_bloom_false_positive_rate', { m: 512 * 20, k: 7, n: 1000 });
  const inRegisters = value('register_blocked_bloom_false_positive_rate', { m: 512 * 20, k: 8, n: 1000 });
  assert.ok(rateOf(10240, 7, 1000) < blocked && blocked < inRegisters && inRegisters < 0.02);
  assert.ok(value('counter_overflow_bound', { m: 1e6, k: 4, n: 1e5, i: 16 }) < 1e-9);
  near(value('threshold_false_positive_rate', { theta: 1, k: 7, n: 1000, m: 9600, true_count: 0 }), rateOf(9600, 7, 1000), 1e-9);
  assert.ok(value('threshold_best_num_hashes', { theta: 10, n: 1000, m: 1000 }) > 1);
  near(value('dleft_false_positive_rate', { B: 4096, R: 16383, n: 1e5 }), -Math.expm1(1e5 * Math.log1p(-1 / 4096 / 16383)), 1e-9);
  const overflow = value('dleft_overflow_probability', { d: 4, c: 8, average_load: [6, 7], steps_per_element: 0 });
  assert.ok(overflow[0] < 1e-100 && overflow[1] > 1e-9);
  near(value('dleft_orientable_load', { d: 2, c: 4 }) / 4, 0.9803697743, 1e-9);
  near(value('dleft_safe_load', { d: 4, B: 4096, c: 8, N: 1e6, failure_probability: 1e-6 }), 6.3109, 1e-4);
  near(value('count_min_failure_probability', { w: 1000, depth: 4, epsilon: 0.01 }), 1e-4);
  near(value('count_min_two_hash_failure_probability', { w: 1009, depth: 4, epsilon: 0.01, num_copies: 1 }),
    2 / (0.01 * 1009 ** 2) + (2 / 10.09) ** 4);
  near(value('poisson_upper_tail', { theta: 1, kappa: 0.5 }), -Math.expm1(-0.5));
  near(value('binomial_upper_tail', { theta: 2, trials: 2, p: 0.25 }), 0.0625);
  const loads = value('dleft_loads', { d: 4, average_load: 6 });
  near(loads.fractions.slice(1).reduce((sum, share) => sum + share), 6, 1e-8);
  assert.equal(loads.subtables.length, 4);
  const steady = value('dleft_loads', { d: 4, average_load: 6, steps_per_element: 'steady_state' });
  assert.ok(steady.fractions[8] > loads.fractions[8]);
  refuses('theory', { name: 'none', arguments: {} }, 'must be one of dleft_loads, bloom_false_positive_rate');
  refuses('theory', { name: 'bloom_best_num_hashes' }, "'arguments' is missing");
  refuses('theory', { name: 'bloom_best_num_hashes', arguments: { m: 1 } }, "'arguments.n' is missing");
  refuses('theory', { name: 'bloom_best_num_hashes', arguments: { m: 1, n: 2, k: 3 } }, "no field 'arguments.k'");
  refuses('theory', { name: 'bloom_best_num_hashes', arguments: { m: [1, 2], n: [1, 2, 3] } }, 'as long as the others');
  refuses('theory', { name: 'bloom_best_num_hashes', arguments: { m: 1.5, n: 2 } }, "'arguments.m' is 1.5");
  refuses('theory', { name: 'bloom_best_num_hashes', arguments: { m: [1, 'x'], n: 2 } }, "'arguments.m' is \"x\"");
  refuses('theory', { name: 'bloom_false_positive_rate', arguments: { m: 10, k: 2 ** 32, n: 2 } }, 'must be below 2^32');
  refuses('theory', { name: 'bloom_false_positive_rate', arguments: { m: 0, k: 1, n: 2 } }, 'm is 0');
  refuses('theory', { name: 'dleft_loads', arguments: { d: 9, average_load: 1 } }, 'd is 9');
});

// Whatever the arguments are, a call returns a result or throws a TallyError, and the module lives on.
test('good arguments with values at random', () => {
  let state = 7;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const one = (list) => list[Math.floor(random() * list.length)];
  const good = [
    ['plan', { num_keys: 1000, false_positive_rate: 0.01, threshold: 3, true_count: 1, counter_bits: 4, num_subtables: 2, max_doublings: 1 }],
    ['plan', { histogram: [[1, 100], [7, 3]], memory_bytes: 5000, threshold: 5, failure_probability: 1e-3 }],
    ['plan', { zipf: { num_keys: 100, exponent: 1, num_insertions: 1000 }, false_positive_rate: 0.01 }],
    ['plan_sketch', { epsilon: 0.01, failure_probability: 0.01, total_count: 1000 }],
    ...[bloom, dleft, counting, sketch].flatMap((shape) => [
      ['error_by_keys', { shape, num_keys: [10, 1000], threshold: 1, lifetime_operations: 10 }],
      ['summary_costs', { shape, num_keys: 100, insertions_per_hour: 50, num_nodes: 3, delay_seconds: 1 }],
      ['filter_new', { shape, seed: 5 }],
    ]),
    ['error_by_memory', { kind: 'dleft', requirements: { num_keys: 100, keys_repeat: false }, memory_bytes: [1000, 5000] }],
    ['error_by_memory', { kind: 'threshold', requirements: { num_keys: 100, threshold: 4, true_count: 0 }, memory_bytes: [1000, 5000] }],
    ['theory', { name: 'bloom_false_positive_rate', arguments: { m: [100, 200], k: 3, n: 50 } }],
    ['theory', { name: 'count_min_failure_probability', arguments: { w: 10, depth: 3, epsilon: 0.5 } }],
  ];
  const value = () => one([
    () => Math.floor(random() * 100), () => random(), () => -random(), () => 2 ** Math.floor(70 * random()), () => 1e300, () => null,
    () => true, () => one(['', 'bloom', 'dleft', '1 5', '\ud800']), () => [3, 4], () => ({}), () => ({ ...bloom }),
  ])();
  /** Sets something in it, at any depth. */
  function change(object) {
    const name = one(Object.keys(object));
    if (object[name] !== null && typeof object[name] === 'object' && random() < 0.7 && Object.keys(object[name]).length) change(object[name]);
    else object[name] = value();
  }
  let numAnswered = 0;
  for (let i = 0; i < 1000; ++i) {
    const [name, args] = structuredClone(one(good));
    change(args);
    if (random() < 0.3) change(args);
    try {
      const result = call(name, args);
      if (name === 'filter_new') call('filter_free', { handle: result.handle });
      ++numAnswered;
    } catch (error) {
      if (!(error instanceof TallyError)) throw new Error(`${name} ${JSON.stringify(args)}: ${error.stack}`);
    }
  }
  assert.ok(numAnswered > 100 && numAnswered < 900, `${numAnswered} answered`);
  assert.equal(call('plan', { num_keys: 10, false_positive_rate: 0.1 }).recommended, 'bloom');
});

console.log(`ok: ${numTests} tests of the page's module`);
