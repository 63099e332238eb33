// Line charts. Each has its numbers as a table, too, for those who cannot see it.

import uPlot from 'uplot';
import { make, tableOf } from './elements.js';

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [3, 6], [1, 4]];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOfSeries = (index) => () => color(`--series-${(index % 8) + 1}`);

const height = () => (window.innerWidth < 600 ? 240 : 300);

// Logarithmic axes draw logarithms on a linear scale: uPlot's own log scale does not end for values like 1e-60.
const placed = (axis) => (value) => {
  const place = axis.isLog ? Math.log10(value) : value;
  return typeof value === 'number' && Number.isFinite(place) ? place : null;
};
const valueAt = (axis, place) => (axis.isLog ? 10 ** place : place);

/** Ticks of a logarithmic axis: 1, 2 and 5 of each decade if there are few, else at most six decades. */
function logTicks(least, most) {
  const ticks = [];
  if (most - least <= 2.5) {
    for (let decade = Math.floor(least); decade <= most; ++decade)
      for (const digit of [1, 2, 5]) ticks.push(decade + Math.log10(digit));
  } else {
    const step = Math.ceil((most - least) / 6);
    for (let decade = Math.ceil(least / step) * step; decade <= most; decade += step) ticks.push(decade);
  }
  return ticks.filter((tick) => least <= tick && tick <= most);
}

/**
 * One chart in `element`, which keeps its place and its size. `show` replaces what it shows:
 * {x: {label, isLog, format}, y: {...}, values: [..], series: [{name, values}], summary, point: {x, text}}.
 * With onMove, the point can be moved: onMove(x, isDone), by pointer and by the arrow keys; onMove(null, true) if it was let go.
 */
export class LineChart {
  #plot;
  #data;
  #onMove;

  constructor(element, onMove) {
    this.element = element;
    this.#onMove = onMove;
    this.area = make('div', { class: 'plot' });
    this.area.style.minHeight = `${height() + 40}px`;
    this.caption = make('p', { class: 'summary' });
    this.numbers = make('details', { class: 'numbers' }, make('summary', {}, 'The numbers'), make('div'));
    this.numbers.addEventListener('toggle', () => this.#showNumbers());
    element.append(this.area, this.caption, this.numbers);
    new ResizeObserver(() => this.#resize()).observe(this.area);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
  }

  redraw() {
    if (this.#data) this.show(this.#data);
  }

  show(data) {
    this.#data = data;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(data), [data.values.map(placed(data.x)), ...data.series.map((own) => own.values.map(placed(data.y)))], this.area);
    this.#plot.root.setAttribute('role', 'img');
    this.#plot.root.setAttribute('aria-label', `${data.y.label} against ${data.x.label}. ${data.summary}`);
    this.caption.textContent = data.summary;
    this.#showNumbers();
  }

  #options({ x, y, series }) {
    const axis = ({ label, format, isLog }) => ({
      label,
      ...(isLog ? { splits: (plot, index, least, most) => logTicks(least, most) } : {}),
      stroke: () => color('--ink'),
      grid: { stroke: () => color('--grid') },
      ticks: { stroke: () => color('--grid') },
      values: (plot, ticks) => ticks.map((tick) => (tick === null ? '' : format(valueAt({ isLog }, tick)))),
    });
    return {
      width: Math.max(200, this.area.clientWidth),
      height: height(),
      scales: { x: { time: false }, y: { range: y.range } },
      axes: [axis(x), { ...axis(y), size: 104, labelSize: 22 }],
      cursor: { drag: { x: false, y: false } },
      hooks: { ready: [(plot) => this.#showPoint(plot)], setSize: [(plot) => this.#showPoint(plot)] },
      legend: { live: false },
      series: [
        {},
        ...series.map((own, i) => ({
          label: own.name, stroke: colorOfSeries(i), width: own.isChosen ? 3 : 1.5, dash: dashes[i % dashes.length],
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

  #showPoint(plot) {
    const { point, x, y } = this.#data;
    plot.over.querySelector('.point')?.remove();
    const top = point && placed(y)(point.y);
    if (!point || placed(x)(point.x) === null || top === null) return;
    const handle = make('div', {
      class: 'point', tabindex: this.#onMove ? 0 : -1, role: this.#onMove ? 'slider' : 'presentation',
      'aria-label': x.label, 'aria-valuenow': point.x, 'aria-valuetext': point.text,
    });
    const place = (at) => {
      handle.style.left = `${plot.valToPos(placed(x)(at), 'x')}px`;
      handle.style.top = `${plot.valToPos(top, 'y')}px`;
    };
    place(point.x);
    plot.over.append(handle);
    if (!this.#onMove) return;
    const least = this.#data.values[0];
    const most = this.#data.values.at(-1);
    const within = (at) => Math.min(most, Math.max(least, at));
    handle.addEventListener('pointerdown', (down) => {
      down.preventDefault();
      down.stopPropagation();
      handle.setPointerCapture(down.pointerId);
      const drag = new AbortController();
      const during = (name, run) => handle.addEventListener(name, run, { signal: drag.signal });
      const at = (event) => within(valueAt(x, plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x')));
      during('pointermove', (event) => {
        place(at(event));
        this.#onMove(at(event), false);
      });
      during('pointerup', (up) => {
        drag.abort();
        this.#onMove(at(up), true);
      });
      during('pointercancel', () => {
        drag.abort();
        place(point.x);
        this.#onMove(null, true);
      });
    });
    handle.addEventListener('keydown', (event) => {
      const factor = { ArrowRight: 1.05, ArrowUp: 1.05, ArrowLeft: 1 / 1.05, ArrowDown: 1 / 1.05, PageUp: 1.5, PageDown: 1 / 1.5 }[event.key];
      if (!factor) return;
      event.preventDefault();
      this.hasFocus = true;
      this.#onMove(within(point.x * factor), true);
    });
    if (this.hasFocus) handle.focus();
    handle.addEventListener('blur', () => (this.hasFocus = false));
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
