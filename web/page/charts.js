// Line charts. Each has its numbers as a table, too, for those who cannot see it.

import uPlot from 'uplot';
import { make, tableOf } from './elements.js';

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [3, 6], [1, 4]];
/** The nearest style of a border, for the legend. */
function markOf([first, , third]) {
  if (first === undefined) return 'solid';
  if (third !== undefined) return 'double';
  return first < 4 ? 'dotted' : 'dashed';
}
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOfSeries = (index) => () => color(`--series-${(index % 8) + 1}`);

const height = () => (window.innerWidth < 600 ? 240 : 300);

// Logarithmic axes draw logarithms on a linear scale: uPlot's own log scale does not end for values like 1e-60.
const placed = (axis) => (value) => {
  const place = axis.isLog ? Math.log10(value) : value;
  return typeof value === 'number' && Number.isFinite(place) ? place : null;
};
const valueAt = (axis, place) => (axis.isLog ? 10 ** place : place);

/** Ticks of a logarithmic axis, at most `count`: powers of the base, or 1, 2 and 5 times those if there are few. */
function logTicks(least, most, count, base) {
  const unit = Math.log10(base);
  const steps = base === 10 && (most - least) * 3 <= count + 2 ? [0, Math.log10(2), Math.log10(5)] : [0];
  const every = Math.max(1, Math.ceil(((most - least) / unit) * (steps.length / count)));
  const ticks = [];
  for (let power = Math.floor(least / unit / every) * every; power * unit <= most; power += every)
    for (const step of steps) ticks.push(power * unit + step);
  return ticks.filter((tick) => least <= tick && tick <= most);
}

/**
 * One chart in `element`, which keeps its place and its size. `show` replaces what it shows:
 * {x: {label, isLog, format}, y: {...}, values: [..], series: [{name, values}], summary, point: {x, text}}.
 * With onMove, the point can be moved: onMove({x, y}, isDone), by pointer and by the keys of a slider; onMove(null, true) if it
 * was let go. Its y is that of the chosen series.
 */
export class LineChart {
  #plot;
  #data;
  #onMove;
  #handle;
  #drag;
  #takesFocus = false;  // once the new plot is there

  constructor(element, onMove) {
    this.element = element;
    this.#onMove = onMove;
    this.area = make('div', { class: 'plot' });
    this.area.style.minHeight = `${height() + 40}px`;
    this.caption = make('p', { class: 'summary' });
    this.numbers = make('details', { class: 'numbers' }, make('summary', {}, 'The numbers'), make('div'));
    this.numbers.addEventListener('toggle', () => this.#showNumbers());
    element.append(this.area, this.caption, this.numbers);
    this.#makeHandle();
    new ResizeObserver(() => this.#resize()).observe(this.area);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
  }

  redraw() {
    if (this.#data) this.show(this.#data);
  }

  show(data) {
    this.#letGo();
    this.#takesFocus ||= this.#handle === document.activeElement;
    this.#data = data;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(data), [data.values.map(placed(data.x)), ...data.series.map((own) => own.values.map(placed(data.y)))], this.area);
    const picture = this.#plot.root.querySelector('canvas');
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', `${data.y.label} against ${data.x.label}. ${data.summary}`);
    this.caption.textContent = data.summary;
    this.#showNumbers();
  }

  #options({ x, y, series }) {
    const width = Math.max(200, this.area.clientWidth);
    const axis = ({ label, format, short, isLog, base }, most) => ({
      label,
      ...(isLog ? { splits: (plot, index, from, to) => logTicks(from, to, most, base ?? 10) } : {}),
      stroke: () => color('--ink'),
      grid: { stroke: () => color('--grid') },
      ticks: { stroke: () => color('--grid') },
      values: (plot, ticks) => ticks.map((tick) => (tick === null ? '' : (short ?? format)(valueAt({ isLog }, tick)))),
    });
    const dashOf = (index) => dashes[index % dashes.length];
    return {
      width,
      height: height(),
      scales: { x: { time: false }, y: { range: y.range } },
      axes: [axis(x, Math.floor(width / 80)), { ...axis(y, 6), size: 64, labelSize: 22 }],
      cursor: { drag: { x: false, y: false } },
      hooks: { ready: [(plot) => this.#showPoint(plot)], setSize: [(plot) => this.#showPoint(plot)] },
      legend: {
        live: false, isolate: false,
        markers: { width: 3, dash: (plot, i) => markOf(dashOf(i - 1)), stroke: (plot, i) => colorOfSeries(i - 1)(), fill: () => 'transparent' },
      },
      series: [
        {},
        ...series.map((own, i) => ({
          label: own.name, stroke: colorOfSeries(i), width: own.isChosen ? 3 : 1.5, dash: dashOf(i),
          points: { show: own.isPoints === true, size: 7 },
          ...(own.isPoints ? { width: 0 } : {}),
        })),
      ],
    };
  }

  #resize() {
    if (this.#plot && this.area.clientWidth > 0 && Math.abs(this.#plot.width - this.area.clientWidth) > 1) {
      this.#plot.setSize({ width: this.area.clientWidth, height: height() });
    }
  }

  /** The y of the chosen series, between its points. */
  #heightAt(at) {
    const { x, y, values, series, point } = this.#data;
    const own = (series.find(({ isChosen }) => isChosen) ?? series[0]).values;
    const [place, top] = [placed(x), placed(y)];
    const next = values.findIndex((value) => value >= at);
    if (at === point.x || next < 0 || top(own[next]) === null) return point.y;
    if (next === 0 || top(own[next - 1]) === null) return own[next];
    const share = (place(at) - place(values[next - 1])) / (place(values[next]) - place(values[next - 1]));
    return valueAt(y, top(own[next - 1]) + share * (top(own[next]) - top(own[next - 1])));
  }

  #placeHandle(at) {
    const { x, y } = this.#data;
    this.#handle.style.left = `${this.#plot.valToPos(placed(x)(at), 'x')}px`;
    this.#handle.style.top = `${this.#plot.valToPos(placed(y)(this.#heightAt(at)), 'y')}px`;
  }

  #showPoint(plot) {
    this.#plot = plot;
    const { point, x, y, values } = this.#data;
    this.#handle.hidden = !point || placed(x)(point.x) === null || placed(y)(point.y) === null;
    if (this.#handle.parentNode !== plot.over) plot.over.append(this.#handle);
    if (this.#handle.hidden) return;
    this.#placeHandle(point.x);
    if (this.#takesFocus) this.#handle.focus();
    this.#takesFocus = false;
    if (!this.#onMove) return;
    const range = { 'aria-valuemin': values[0], 'aria-valuemax': values.at(-1), 'aria-valuenow': point.x, 'aria-valuetext': point.text };
    for (const [name, value] of Object.entries({ 'aria-label': x.label, ...range })) this.#handle.setAttribute(name, value);
  }

  /** One element for all that is shown, so that it keeps the focus. */
  #makeHandle() {
    this.#handle = make('div', { class: 'point', ...(this.#onMove ? { tabindex: 0, role: 'slider' } : { 'aria-hidden': 'true' }) });
    if (!this.#onMove) return;
    const within = (at) => Math.min(this.#data.values.at(-1), Math.max(this.#data.values[0], at));
    const moved = (at, isDone) => this.#onMove({ x: at, y: this.#heightAt(at) }, isDone);
    this.#handle.addEventListener('pointerdown', (down) => {
      down.preventDefault();
      down.stopPropagation();
      this.#letGo();
      this.#handle.focus();
      this.#handle.setPointerCapture(down.pointerId);
      this.#drag = new AbortController();
      const during = (name, run) => this.#handle.addEventListener(name, run, { signal: this.#drag.signal });
      const { over } = this.#plot;
      const at = (event) => within(valueAt(this.#data.x, this.#plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x')));
      during('pointermove', (event) => {
        this.#placeHandle(at(event));
        moved(at(event), false);
      });
      during('pointerup', (up) => {
        this.#drag.abort();
        this.#drag = undefined;
        moved(at(up), true);
      });
      for (const name of ['pointercancel', 'lostpointercapture']) during(name, () => this.#letGo());
    });
    this.#handle.addEventListener('keydown', (event) => {
      const { point, values } = this.#data;
      const factor = { ArrowRight: 1.05, ArrowUp: 1.05, ArrowLeft: 1 / 1.05, ArrowDown: 1 / 1.05, PageUp: 1.5, PageDown: 1 / 1.5 }[event.key];
      const end = { Home: values[0], End: values.at(-1) }[event.key];
      if (!factor && !end) return;
      event.preventDefault();
      moved(end ?? within(point.x * factor), true);
    });
  }

  /** Ends a drag without a result. */
  #letGo() {
    if (!this.#drag) return;
    this.#drag.abort();
    this.#drag = undefined;
    this.#placeHandle(this.#data.point.x);
    this.#onMove(null, true);
  }

  #showNumbers() {
    if (!this.numbers.open || !this.#data) return;
    const { x, y, values, series } = this.#data;
    const rows = values.map((value, i) => [x.format(value), ...series.map((own) => y.format(own.values[i]))]);
    this.numbers.lastElementChild.replaceChildren(tableOf(`${y.label} against ${x.label}`, [x.label, ...series.map((own) => own.name)], rows));
  }
}

/** `count` values from `least` to `most`, each larger by the same factor. */
export function spaced(least, most, count) {
  return Array.from({ length: count }, (_, i) => least * (most / least) ** (i / (count - 1)));
}
