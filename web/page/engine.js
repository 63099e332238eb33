// The planner in workers: answers to calls are promises. The workers are made from a Blob, so that the page works from disk.

import { decompressed } from '../js/tally.js';

const source = () => document.getElementById('worker-source').textContent;

let compiled;
/** The module is compiled once; workers get the compiled one. */
function compiledModule() {
  compiled ??= (async () => {
    return WebAssembly.compile(await decompressed(document.getElementById('wasm').textContent.trim()));
  })();
  return compiled;
}

/** A worker with a planner in it, which does one call after the other. */
export class Engine {
  #worker;
  #calls = new Map();
  #next = 0;

  /** The worker starts with the first call. */
  async #started() {
    if (this.#worker) return this.#worker;
    const module = await compiledModule();
    if (this.#worker) return this.#worker;
    const url = URL.createObjectURL(new Blob([source()], { type: 'text/javascript' }));
    this.#worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.#worker.onmessage = ({ data }) => {
      const call = this.#calls.get(data.id);
      if (data.progress !== undefined) return call?.onProgress?.(data.progress);
      this.#calls.delete(data.id);
      if (data.error !== undefined) call?.reject(new Error(data.error));
      else call?.resolve(data.result);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(`The planner stopped: ${event.message}.`);
    };
    this.#worker.postMessage({ module });
    return this.#worker;
  }

  /** Throws an Error with a sentence for arguments that the planner refuses. */
  async call(name, args, onProgress, transfer = []) {
    const worker = await this.#started();
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#calls.set(id, { resolve, reject, onProgress });
      worker.postMessage({ id, name, args }, transfer);
    });
  }

  /** Ends what runs now. The next call starts anew. */
  stop() {
    this.#fail('stopped');
  }

  #fail(why) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const call of this.#calls.values()) call.reject(new Error(why));
    this.#calls.clear();
  }
}

const slowAfter = 200; // ms

/**
 * Runs the last of many calls: while one runs, a new one replaces the one that waits. A run that is slow is stopped for a new one:
 * its calls of the engine throw an Error 'stopped'. show() tells of 'pending', 'slow' and 'done'.
 */
export function latest(engine, show, run) {
  let running = false;
  let isSlow = false;
  let waiting;
  return async function next(...args) {
    waiting = args;
    if (running && isSlow) engine.stop();
    if (running) return;
    running = true;
    show('pending');
    while (waiting) {
      const now = waiting;
      waiting = undefined;
      isSlow = false;
      const timer = setTimeout(() => {
        isSlow = true;
        show('slow');
        if (waiting) engine.stop();
      }, slowAfter);
      try {
        await run(...now);
      } finally {
        clearTimeout(timer);
      }
    }
    running = false;
    show('done');
  };
}
