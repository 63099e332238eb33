// The figures of the papers, as live plots: each has its formula's numbers, and its source.

import { LineChart } from './charts.js';
import { byId, make } from './elements.js';
import { count, parseReal, rate, shortRate } from './numbers.js';

const whole = (least, most) => Array.from({ length: most - least + 1 }, (_, i) => least + i);
const number = (label, format, isLog = false) => ({ label, format, isLog, short: format === rate ? shortRate : format });

/** Each figure: a slider, and draw(value, theory) which returns what a chart shows. */
const figures = [
  {
    title: 'False positive rate against the number of hash functions',
    source: 'Fan, Cao, Almeida and Broder 2000, Figure 4: (1 - (1 - 1/m)^(k n))^k; the least is near k = (m/n) ln 2.',
    slider: { label: 'Bits per key', least: 2, most: 32, step: 1, initial: 10 },
    draw: async (bits, theory) => {
      const n = 10000;
      const k = whole(1, 32);
      const values = await theory('bloom_false_positive_rate', { m: bits * n, k, n });
      const best = values.indexOf(Math.min(...values));
      return {
        x: number('Hash functions', count), y: number('False positive rate', rate, true), values: k,
        series: [{ name: `${bits} bits per key`, values, isChosen: true }],
        point: { x: k[best], y: values[best], text: '' },
        summary: `With ${bits} bits per key the best number of hash functions is ${k[best]}, with ${rate(values[best])}.`,
      };
    },
  },
  {
    title: 'How full the buckets of a d-left table are',
    source: 'Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese 2006, section 2: the fluid limit of d-left hashing, with 4 subtables.',
    slider: { label: 'Cells per bucket', least: 4, most: 16, step: 1, initial: 8 },
    draw: async (cells, theory) => {
      const d = 4;
      const loads = whole(1, 24).map((i) => (i * cells) / 20);
      const answers = [];
      for (const load of loads) answers.push(await theory('dleft_loads', { d, average_load: load }));
      const shareOf = (least) => answers.map(({ fractions }) => fractions[least] ?? 0);
      const [atCell, full] = [shareOf(cells), shareOf(cells + 1)];
      return {
        x: number('Load, in keys per cell', (value) => rate(value)), y: number('Share of buckets', rate, true),
        values: loads.map((load) => load / cells),
        series: [{ name: `at least ${cells} keys`, values: atCell }, { name: `more than ${cells}: overflow`, values: full, isChosen: true }],
        summary: `With ${cells} cells, at a load of 75% ${full[14] > 0 ? `a share of ${rate(full[14])}` : 'hardly one in 1e100'} of the buckets would overflow. The law is a limit for many buckets.`,
      };
    },
  },
  {
    title: 'Whether a key is reported as inserted N times, by its true count',
    source: 'Kim, Jeong, Lee and Lee 2019: counters of a Bloom filter that must all reach the threshold; 10 counters per key.',
    slider: { label: 'N', least: 2, most: 20, step: 1, initial: 8 },
    draw: async (times, theory) => {
      const n = 10000;
      const counts = whole(0, times);
      const k = await theory('threshold_best_num_hashes', { theta: times, n, m: 10 * n });
      const below = await theory('threshold_false_positive_rate', { theta: times, k, n, m: 10 * n, true_count: counts.slice(0, -1) });
      const values = [...below, 1];
      return {
        x: number('True count', count), y: number('Probability that it is reported', rate, true), values: counts,
        series: [{ name: `N = ${times}, k = ${k}`, values, isChosen: true }],
        summary: `A key that was inserted ${times - 1} times is reported with probability ${rate(values[times - 1])}, one that was never inserted with ${rate(values[0])}. From N on it is always reported.`,
      };
    },
  },
  {
    title: 'By how much a Count-Min sketch counts too high: bound and measurement',
    source: 'Cormode and Muthukrishnan 2003; Kirsch and Mitzenmacher 2008. Measured in this page with random keys.',
    slider: { label: 'Rows', least: 1, most: 8, step: 1, initial: 4 },
    draw: async (depth, theory, engine) => {
      const width = 272;
      const { excess: factors, bound: bounds, measured } = await engine.call('count_min_excess', { width, depth, num_keys: 20000 });
      return {
        x: number('Error, as a share of all insertions', rate, true), y: number('Share of keys with a larger error', rate, true), values: factors,
        series: [{ name: 'bound', values: bounds, isChosen: true }, { name: 'measured', values: measured, isPoints: true }],
        summary: `With ${depth} rows of ${width} counters, the bound says that at most ${rate(bounds[bounds.length >> 1])} of the keys are too high by more than ${rate(factors[factors.length >> 1])} of all insertions; measured: ${rate(measured[measured.length >> 1])}.`,
      };
    },
  },
];

export function startFigures(engine) {
  const theory = (name, values) => engine.call('theory', { name, arguments: values });
  for (const [index, figure] of figures.entries()) {
    const { label, least, most, step, initial } = figure.slider;
    const id = `figure-${index}`;
    const slider = make('input', { type: 'range', id, min: least, max: most, step, value: initial });
    const shown = make('output', { for: id }, String(initial));
    const place = make('div');
    const error = make('p', { class: 'error', role: 'alert' });
    byId('figures').append(
      make('article', { class: 'figure' }, make('h3', {}, figure.title), make('p', { class: 'slider' }, make('label', { for: id }, label), slider, shown), place, error, make('p', { class: 'source' }, figure.source)),
    );
    const chart = new LineChart(place);
    const draw = async () => {
      const parsed = parseReal(slider.value, { least, most });
      shown.textContent = slider.value;
      try {
        chart.show(await figure.draw(parsed.value, theory, engine));
        error.textContent = '';
      } catch (reason) {
        error.textContent = `${reason.message}.`;
      }
    };
    slider.addEventListener('input', draw);
    addEventListener('theme', () => chart.redraw());
    draw();
  }
}
