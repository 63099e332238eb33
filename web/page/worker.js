// What runs in each worker: calls of the planner, and the counts of a file.

import { load } from '../js/tally.js';
import { countedLines } from './counted_lines.js';

let tally;

async function answered({ id, name, args }) {
  const tell = (progress) => void postMessage({ id, progress });
  try {
    const planner = await tally;
    const result = name === 'count_lines' ? await countedLines(args.file, tell) : planner.call(name, args, tell);
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
}

// One after the other, because each call has the planner for itself.
let last = Promise.resolve();
onmessage = ({ data }) => {
  if (data.module) tally = load(data.module);
  else last = last.then(() => answered(data));
};
