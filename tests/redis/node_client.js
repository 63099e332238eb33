// A flow through the package redis of npm, whose commands nobody here wrote. Argument: the server's socket.
'use strict';
const assert = require('node:assert/strict');
const { commandOptions, createClient } = require('redis');

async function flow(server) {
  assert.equal(await server.bf.reserve('bloom', 0.001, 1000, { EXPANSION: 4 }), 'OK');
  assert.equal(await server.bf.add('bloom', 'a'), true);
  assert.equal(await server.bf.add('bloom', 'a'), false);
  assert.deepEqual(await server.bf.mAdd('bloom', ['b', 'c', 'b']), [true, true, false]);
  assert.deepEqual(await server.bf.insert('inserted', ['x', 'y'], { CAPACITY: 50, ERROR: 0.01 }), [true, true]);
  assert.equal(await server.bf.exists('bloom', 'a'), true);
  assert.deepEqual(await server.bf.mExists('bloom', ['a', 'no']), [true, false]);
  assert.equal(await server.bf.card('bloom'), 3);
  const bloom = await server.bf.info('bloom');
  assert.deepEqual([bloom.capacity, bloom.numberOfFilters, bloom.numberOfInsertedItems, bloom.expansionRate],
    [1000, 1, 3, 4]);
  const bytes = commandOptions({ returnBuffers: true });  // text would damage the chunks
  for (let next = 0; ;) {
    const { iterator, chunk } = await server.bf.scanDump(bytes, 'bloom', next);
    if (iterator === 0) break;
    assert.equal(await server.bf.loadChunk('bloom2', iterator, chunk), 'OK');
    next = iterator;
  }
  assert.deepEqual(await server.bf.mExists('bloom2', ['a', 'b', 'c', 'no']), [true, true, true, false]);

  assert.equal(await server.cf.reserve('cuckoo', 1000, { BUCKETSIZE: 4, EXPANSION: 2 }), 'OK');
  assert.equal(await server.cf.add('cuckoo', 'a'), true);
  assert.equal(await server.cf.addNX('cuckoo', 'a'), false);
  assert.deepEqual(await server.cf.insert('cuckoo', ['a', 'b']), [true, true]);
  assert.deepEqual(await server.cf.insertNX('cuckoo', ['b', 'c']), [false, true]);
  assert.equal(await server.cf.count('cuckoo', 'a'), 2);
  assert.equal(await server.cf.del('cuckoo', 'a'), true);
  assert.equal(await server.cf.exists('cuckoo', 'a'), true);
  assert.equal((await server.cf.info('cuckoo')).numberOfInsertedItems, 3);

  assert.equal(await server.cms.initByDim('sketch', 1000, 5), 'OK');
  assert.deepEqual(await server.cms.incrBy('sketch', [{ item: 'a', incrementBy: 5 }, { item: 'b', incrementBy: 7 }]),
    [5, 7]);
  assert.deepEqual(await server.cms.query('sketch', ['a', 'b', 'c']), [5, 7, 0]);
  assert.equal(await server.cms.initByDim('sum', 1000, 5), 'OK');
  assert.equal(await server.cms.merge('sum', [{ name: 'sketch', weight: 3 }]), 'OK');
  assert.deepEqual(await server.cms.info('sum'), { width: 1000, depth: 5, count: 36 });

  assert.equal(await server.topK.reserve('top', 2, { width: 50, depth: 4, decay: 0.9 }), 'OK');
  assert.deepEqual(await server.topK.add('top', ['a', 'b']), [null, null]);
  await server.topK.incrBy('top', [{ item: 'a', incrementBy: 10 }, { item: 'b', incrementBy: 5 }]);
  assert.deepEqual(await server.topK.query('top', ['a', 'no']), [1, 0]);  // as they come
  assert.deepEqual(await server.topK.list('top'), ['a', 'b']);
  assert.deepEqual(await server.topK.listWithCount('top'), [{ item: 'a', count: 11 }, { item: 'b', count: 6 }]);
  assert.equal((await server.topK.info('top')).k, 2);
}

async function main() {
  const server = createClient({ socket: { path: process.argv[2] } });
  await server.connect();
  try {
    await flow(server);
  } finally {
    await server.disconnect();
  }
  console.log('every reply as expected');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
