// The code that makes exactly this structure: a command line, C++, Python and Redis.

/** The names of a shape's fields in C++ and Python, where they differ from those in JSON. */
const ownNames = {
  bloom: { num_positions: 'num_bits' },
  'blocked-bloom': { num_positions: 'num_bits' },
  'counting-bloom': { num_positions: 'num_counters', threshold: 'max_threshold' },
  'blocked-counting-bloom': { num_positions: 'num_counters', threshold: 'max_threshold' },
  threshold: { num_positions: 'num_counters' },
};
const threshold = ['num_counters', 'num_hashes', 'threshold', 'update'];

/** The class of the shape; the class of the structure is in the kind's traits. */
const shapeNames = {
  bloom: 'BloomShape',
  'blocked-bloom': 'BlockedBloomShape',
  'counting-bloom': 'CountingBloomShape',
  'blocked-counting-bloom': 'BlockedCountingBloomShape',
  threshold: 'ThresholdShape',
  dleft: 'DLeftShape',
  'compact-dleft': 'CompactDLeftShape',
  'count-min': 'CountMinShape',
};

/** The order of the fields in C++, where JSON has another one. */
const orders = { threshold };

function fieldsOf(shape) {
  const names = ownNames[shape.kind] ?? {};
  const fields = Object.entries(shape)
    .filter(([name]) => name !== 'kind' && name !== 'scheme')
    .map(([name, value]) => [names[name] ?? name, value])
    .filter(([name]) => shape.kind !== 'threshold' || threshold.includes(name));
  const order = orders[shape.kind];
  return order ? fields.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)) : fields;
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** The class of a structure with this shape, in C++ and in Python. */
export function classOf(shape, traits) {
  return shape.scheme === 'register-blocked' ? 'RegisterBlockedBloomFilter' : traits.structure;
}

function cxxValue(name, value) {
  if (name === 'update') return `tally::CounterUpdate::${value}`;
  if (name === 'moves') return `tally::DLeftMoves::${value.replaceAll('-', '_')}`;
  return String(value);
}

/** The scheme is a template argument, unless it is the default one. */
function cxxClass(shape, traits) {
  const name = classOf(shape, traits);
  const isDefault = shape.scheme === traits.default_scheme || name === 'RegisterBlockedBloomFilter';
  if (isDefault) return name;
  const scheme = shape.scheme.split('-').map(capital).join('');
  return `${name}<tally::${scheme}${shape.kind === 'count-min' ? 'Rows' : 'Scheme'}>`;
}

export function cxxCode(shape, traits) {
  const fields = fieldsOf(shape).map(([name, value]) => `.${name} = ${cxxValue(name, value)}`);
  const add = shape.kind === 'count-min' ? 'add' : 'insert';
  return [
    '#include <tally/tally.hpp>',
    '#include <iostream>',
    '',
    `const tally::${shapeNames[shape.kind]} shape{`,
    `    ${fields.join(', ')}};`,
    `tally::${cxxClass(shape, traits)} filter(shape, 42);  // 42: the seed`,
    traits.can_fill_up
      ? `if (filter.${add}("a key") == tally::InsertResult::full) {\n  // There was no room, and nothing changed.\n}`
      : `filter.${add}("a key");`,
    `std::cout << filter.${traits.can_count ? 'count("a key").value' : 'may_contain("a key")'} << '\\n';`,
  ].join('\n');
}

export function pythonCode(shape, traits) {
  const value = (own) => (typeof own === 'boolean' ? capital(String(own)) : typeof own === 'string' ? `'${own}'` : own);
  const fields = [...fieldsOf(shape), ['scheme', shape.scheme]].map(([name, own]) => `${name}=${value(own)}`);
  const add = shape.kind === 'count-min' ? 'add_batch' : 'insert_batch';
  return [
    'import tally',
    '',
    `shape = tally.${shapeNames[shape.kind]}(`,
    `    ${fields.join(', ')})`,
    `filter = tally.${classOf(shape, traits)}(shape)`,
    `filter.${add}(['a key', 'another'])`,
    traits.can_count ? "print(filter.count('a key'))" : "print('a key' in filter)",
  ].join('\n');
}

export function commandCode(shape, traits) {
  return [
    `echo '${JSON.stringify(shape)}' > shape.json`,
    'tally build --shape shape.json -o filter.tally keys.txt',
    `tally ${traits.can_count ? 'count' : 'query'} filter.tally < questions.txt`,
  ].join('\n');
}

const redisNames = { num_copies: 'copies', num_lines_per_subtable: 'lines-per-subtable' };
/** What Redis has no option for. */
const notInRedis = ['least_remainder_bits', 'num_doublings', 'grows'];

export function redisCode(shape, traits) {
  const words = Object.entries(shape)
    .filter(([name]) => !notInRedis.includes(name))
    .filter(([name]) => shape.kind !== 'threshold' || name !== 'counter_bits')
    .map(([name, value]) => `--${redisNames[name] ?? name.replaceAll('_', '-')} ${value}`);
  if (shape.kind === 'dleft') words.push(`--max-doublings ${shape.remainder_bits - shape.least_remainder_bits}`);
  return [`TALLY.CREATE filter ${words.join(' ')}`, 'TALLY.ADD filter "a key"', `TALLY.${traits.can_count ? 'COUNT' : 'QUERY'} filter "a key"`].join('\n');
}

export const languages = [
  ['Command', commandCode],
  ['C++', cxxCode],
  ['Python', pythonCode],
  ['Redis', redisCode],
];
