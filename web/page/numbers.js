// Numbers as people write them, and as the page shows them. Each parser returns {value} or {error}: a sentence.

// Decimal units as powers of ten: 4.1 * 1e6 is no whole number, 4.1e6 is.
const units = { '': 0, k: 3, m: 6, g: 9, t: 12 };
const byteUnits = { ...units, b: 0, byte: 0, bytes: 0, kb: 3, mb: 6, gb: 9, tb: 12 };
const binaryUnits = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };

/** "1,000,000", "10 000", "1e6", "1.5M". */
function scaled(text, table) {
  const clean = text.trim().replace(/(\d)[, _\u202f\u00a0'](?=\d{3}(\D|$))/g, '$1');
  const found = /^(\d+(?:\.\d+)?)(?:e[+]?(\d+))?\s*([a-z]*)$/i.exec(clean);
  if (!found) return undefined;
  const [, digits, exponent = '0', unit] = found;
  const power = table[unit.toLowerCase()];
  if (power !== undefined) return Number(`${digits}e${Number(exponent) + power}`);
  const factor = table === byteUnits ? binaryUnits[unit.toLowerCase()] : undefined;
  return factor && Number(`${digits}e${exponent}`) * factor;
}

export function parseWhole(text, { least, most }) {
  const value = scaled(text, units);
  if (value === undefined) return { error: `'${short(text)}' is not a number; write it as 1000000, 1M or 1e6` };
  if (!Number.isInteger(value)) return { error: `${short(text)} is not a whole number` };
  if (value < least || value > most) return { error: `must be from ${count(least)} to ${count(most)}` };
  return { value };
}

export function parseReal(text, { least, most }) {
  const value = /^\s*\d+(\.\d+)?(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN;
  if (Number.isNaN(value)) return { error: `'${short(text)}' is not a number` };
  if (value < least || value > most) return { error: `must be from ${least} to ${most}` };
  return { value };
}

export function parseBytes(text, { least, most }) {
  const value = scaled(text, byteUnits);
  if (value === undefined) return { error: `'${short(text)}' is not a size; write it as 16 MiB, 64 kB or 1 GB` };
  const whole = Math.floor(value);
  if (whole < least || whole > most) return { error: `must be from ${bytes(least)} to ${bytes(most)}` };
  return { value: whole };
}

/** "1%", "1 in 100", "0.01", "1e-6". */
export function parseRate(text, { least, most }) {
  const clean = text.trim().toLowerCase();
  const number = '(\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)';
  let value;
  let found;
  if ((found = new RegExp(`^${number}\\s*%$`).exec(clean))) {
    value = Number(found[1]) / 100;
  } else if ((found = /^(\d+)\s*(?:in|\/|:)\s*(.+)$/.exec(clean))) {
    const of = scaled(found[2], units);
    if (of) value = Number(found[1]) / of;
  } else if ((found = new RegExp(`^${number}$`).exec(clean))) {
    value = Number(found[1]);
  }
  if (value === undefined || Number.isNaN(value))
    return { error: `'${short(text)}' is not a share; write it as 1%, 1 in 100 or 0.01` };
  if (value < least || value > most) return { error: `must be from ${rate(least)} to ${rate(most)}` };
  return { value };
}

/** "1:900k 2:80k": pairs of a count and its number of keys, by ascending count. */
export function parseCounts(text, range) {
  const pairs = [];
  for (const pair of text.trim().split(/[,;]?\s+|;/)) {
    const parts = pair.split(':').map((part) => parseWhole(part, range));
    if (parts.length !== 2) return { error: `'${short(pair)}' is not two numbers; write 10:20k for 20,000 keys that come ten times` };
    const wrong = parts.find((part) => part.error);
    if (wrong) return { error: `'${short(pair)}': ${wrong.error}` };
    pairs.push(parts.map((part) => part.value));
  }
  pairs.sort((a, b) => a[0] - b[0]);
  const twice = pairs.find(([times], i) => i > 0 && times === pairs[i - 1][0]);
  return twice ? { error: `${count(twice[0])} times is there twice; add its keys up` } : { value: pairs };
}

export function short(text) {
  const characters = [...String(text)];
  return characters.length > 30 ? `${characters.slice(0, 30).join('')}...` : String(text);
}

const none = '-';

export function count(value) {
  if (!Number.isFinite(value)) return none;
  if (value >= 1e15) return significant(value);
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "1 key", "2 keys". */
export const counted = (value, word) => `${count(value)} ${word}${value === 1 ? '' : 's'}`;

/** Three digits. */
export function significant(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return none;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return Number(value.toPrecision(3)).toString();
}

export function bytes(value) {
  if (!Number.isFinite(value)) return none;
  const names = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let index = 0;
  while (value >= 1024 && index + 1 < names.length) {
    value /= 1024;
    ++index;
  }
  return `${index === 0 ? Math.round(value) : Number(value.toPrecision(4))} ${names[index]}`;
}

/** For an axis: "10k", "1M"; "1e-12" for a share. */
export function shortCount(value) {
  const names = [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]];
  const [name, size] = names.find(([, least]) => value >= least * 0.9995) ?? ['', 1];
  return `${Number((value / size).toPrecision(3))}${name}`;
}
export function shortRate(value) {
  return value >= 0.9e-4 || value === 0 ? rate(value) : significant(value);
}

/** "1%", "0.01%", "1 in 1,000,000". */
export function rate(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return none;
  if (value === 0) return '0';
  if (value >= 1e-4) return `${Number((100 * value).toPrecision(3))}%`;
  return `1 in ${1 / value < 1e15 ? count(Number((1 / value).toPrecision(3))) : significant(1 / value)}`;
}
