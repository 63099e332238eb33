// The code that the page gives compiles and runs, and makes the structure of the plan. Usage: node code_test.mjs WASM PROJECT
// Environment: TALLY_COMMAND; TALLY_PYTHON_DIR, the directory of the package; TALLY_MODULE. What is missing is left out.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../web/js/tally.js';
import { commandCode, cxxCode, pythonCode, redisCode } from '../../web/page/code.js';

const [wasm, project] = process.argv.slice(2);
const { TALLY_COMMAND, TALLY_PYTHON_DIR, TALLY_MODULE } = process.env;
const tally = await load(readFileSync(wasm));
const traits = Object.fromEntries(tally.call('kinds').map((own) => [own.name, own]));
const size = { num_keys: 10000, false_positive_rate: 0.01 };
const shapes = [
  {}, { needs_deletes: true }, { needs_deletes: true, keys_repeat: false }, { threshold: 3 }, { threshold: 3, update: 'conservative' },
  { needs_deletes: true, max_doublings: 2 },
].flatMap((own) => tally.call('plan', { ...size, ...own }).candidates)
  .concat(tally.call('plan_sketch', { epsilon: 0.01 }).candidates)
  .map(({ shape }) => shape);
const kinds = new Set(shapes.map(({ kind }) => kind));
assert.equal(kinds.size, Object.keys(traits).length, `no plan of every kind: ${[...kinds]}`);

const directory = mkdtempSync(join(tmpdir(), 'tally-code-'));
try {
  const functions = shapes.map((shape, i) => `void made_${i}() {\n${cxxCode(shape, traits[shape.kind]).replace(/#include.*\n/g, '')}\n}`);
  writeFileSync(join(directory, 'code.cpp'), `#include <tally/tally.hpp>\n#include <iostream>\n${functions.join('\n')}\n`);
  execFileSync('c++', ['-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', `-I${project}/include`, join(directory, 'code.cpp')], { stdio: 'inherit' });
  console.log(`ok: ${shapes.length} structures in C++`);

  if (TALLY_PYTHON_DIR) {
    const program = shapes.map((shape) => `${pythonCode(shape, traits[shape.kind])}\nassert filter.shape == shape\n`).join('\n');
    execFileSync('/usr/bin/python3', ['-c', program], { env: { ...process.env, PYTHONPATH: TALLY_PYTHON_DIR }, stdio: ['ignore', 'ignore', 'inherit'] });
    console.log(`ok: ${shapes.length} structures in Python`);
  }

  if (TALLY_COMMAND) {
    writeFileSync(join(directory, 'keys.txt'), 'a\nb\n');
    writeFileSync(join(directory, 'questions.txt'), 'a\nc\n');
    for (const shape of shapes) {
      const script = `tally() { "$TALLY_COMMAND" "$@" 2>/dev/null; }\n${commandCode(shape, traits[shape.kind]).replace('-o ', '--force -o ')} || [ $? = 1 ]  # 1: none may be in it`;
      const answers = execFileSync('sh', ['-c', script], { cwd: directory, encoding: 'utf8' });
      if (shape.kind !== 'threshold') assert.match(answers, /^(1\t)?a$/m, answers);
      const made = JSON.parse(execFileSync(TALLY_COMMAND, ['info', '--json', 'filter.tally'], { cwd: directory }));
      assert.deepEqual((made.filter ?? made).shape, shape);
    }
    console.log(`ok: ${shapes.length} structures by the command`);
  }

  if (TALLY_MODULE) {
    const socket = join(directory, 'redis.sock');
    const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--loadmodule', TALLY_MODULE, '--save', ''], { stdio: 'ignore' });
    const replyOf = (input) => execFileSync('redis-cli', ['-s', socket], { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] }).trim();
    let state = 'starting';
    server.on('error', () => { state = 'missing'; });
    server.on('exit', () => { state = 'ended'; });
    try {
      for (let i = 0; state === 'starting' && i < 300; ++i) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        try {
          if (replyOf('PING\n') === 'PONG') state = 'ready';
        } catch {
          // It does not listen yet.
        }
      }
      if (state === 'missing') {
        console.log('skipped: redis-server is missing');
      } else {
        assert.equal(state, 'ready', 'the server with the module is not ready after 30 s');
        const commands = shapes.map((shape, i) => redisCode(shape, traits[shape.kind]).split('\n')[0].replace('filter', `filter-${i}`));
        assert.equal(replyOf(`${commands.join('\n')}\n`), shapes.map(() => 'OK').join('\n'));
        console.log(`ok: ${shapes.length} structures in Redis`);
      }
    } finally {
      server.kill();
    }
  }
} finally {
  rmSync(directory, { recursive: true });
}
