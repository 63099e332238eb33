// The planner in a window, a worker or node:
//
//   const tally = await load(bytes);                             // of tally_page.wasm
//   const plan = tally.call("plan", { num_keys: 1e6, false_positive_rate: 0.01 });
//
// web/README.md lists the functions.

/** What a function of the planner refuses; `message` is a sentence for the user. */
export class TallyError extends Error {
  name = "TallyError";
}

/** The bytes of a file that was compressed by gzip and written in base64, as one page embeds it. */
export async function decompressed(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** `wasm`: the bytes, or a compiled WebAssembly.Module. */
export async function load(wasm) {
  let progress = null;
  let failure = null; // what `progress` threw
  const imports = {
    env: {
      tally_progress(numTrialsDone) {
        try {
          return progress?.(numTrialsDone) ? 1 : 0;
        } catch (error) {
          failure = error;
          return 1;
        }
      },
      emscripten_notify_memory_growth() {},
    },
    wasi_snapshot_preview1: {
      proc_exit() {
        throw new Error("the planner has ended");
      },
    },
  };
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
  const { memory, malloc, free, tally_call, _initialize } = (await WebAssembly.instantiate(module, imports)).exports;
  _initialize();

  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  /** The address of a copy of the text, which the caller frees. */
  function written(text) {
    const bytes = encoder.encode(text);
    const address = malloc(bytes.length + 1);
    if (address === 0) throw new TallyError("not enough memory for the arguments");
    const target = new Uint8Array(memory.buffer, address, bytes.length + 1);
    target.set(bytes);
    target[bytes.length] = 0;
    return address;
  }

  function read(address) {
    const bytes = new Uint8Array(memory.buffer);
    return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }

  let trap = null; // after it nothing in the memory is sure

  /**
   * The result of a function, as an object; throws TallyError for arguments that it refuses. `watch(numTrialsDone)` is
   * called now and then during "simulate", which it stops by returning true.
   */
  function call(name, args = {}, watch = null) {
    if (trap) throw new TallyError(`the planner stopped before (${trap.message}); load it again`);
    const addresses = [];
    try {
      progress = watch;
      failure = null;
      addresses.push(written(name), written(JSON.stringify(args)));
      const answer = JSON.parse(read(tally_call(...addresses)));
      if (failure) throw failure;
      if ("error" in answer) throw new TallyError(answer.error);
      return answer.result;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) trap = error;
      throw error;
    } finally {
      progress = null;
      if (!trap) addresses.forEach((address) => free(address));
    }
  }

  return { call };
}
