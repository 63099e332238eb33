// The exact counts of the lines of a file, and from them how many keys occur how often.

const mostKeys = 1.6e7; // a Map takes 2^24
const mostBytesOfKeys = 1e9;

/** The first bytes of compressed files. */
const compressed = [
  ['gzip', [0x1f, 0x8b]], ['zstd', [0x28, 0xb5, 0x2f, 0xfd]], ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a]], ['bzip2', [0x42, 0x5a, 0x68]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
];

/** Pairs of a count and its number of keys, by ascending count. Tells the share that is read. */
export async function countedLines(file, tell) {
  const beginning = [...new Uint8Array(await file.slice(0, 6).arrayBuffer())];
  for (const [name, bytes] of compressed) {
    if (bytes.every((byte, i) => beginning[i] === byte))
      throw new Error(`The file is compressed (${name}); unpack it first, or run tally plan --from, which reads it.`);
  }
  const counts = new Map();
  let bytesOfKeys = 0;
  const add = (line) => {
    const before = counts.get(line);
    if (before === undefined) {
      bytesOfKeys += line.length;
      if (counts.size >= mostKeys || bytesOfKeys > mostBytesOfKeys)
        throw new Error(`The file has more than ${counts.size} different lines, too many for a page; tally plan --from counts them.`);
    }
    // A part of a text keeps the whole text alive; the key is to be a text of its own.
    counts.set(before === undefined ? ` ${line}`.slice(1) : line, (before ?? 0) + 1);
  };
  let read = 0;
  let rest = '';
  // Bytes as they are: one character each, so that what is no text is counted, too.
  const decoder = new TextDecoder('latin1');
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    read += value.length;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop();
    if (rest.length > 2 ** 24) throw new Error('A line of the file has more than 16 MiB; is it text with one key per line?');
    lines.forEach(add);
    tell(file.size === 0 ? 1 : read / file.size);
  }
  if (rest !== '') add(rest);
  if (counts.size === 0) throw new Error('The file has no lines.');
  const keysWith = new Map();
  for (const count of counts.values()) keysWith.set(count, (keysWith.get(count) ?? 0) + 1);
  return [...keysWith].sort((a, b) => a[0] - b[0]);
}
