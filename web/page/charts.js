// Line charts. Each has its numbers as a table, too, for those who cannot see it.

import uPlot from 'uplot';
import { make, tableOf } from './elements.js';

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [3, 6], [1, 4]];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOfSeries = (index) => () => color(`--series-${(index % 8) + 1}`);

const height = () => (window.innerWidth < 600 ? 240 : 300);

/** Whether any value of a row can be drawn on this axis. */
const drawable = (axis) => (value) => (Number.isFinite(value) && (!axis.isLog || value > 0) ? value : null);

/**
 * One chart in `element`, which keeps its place and its size. `show` replaces what it shows:
 * {x: {label, isLog, format}, y: {...}, values: [..], series: [{name, values}], summary, point: {x, text}}.
 * With onMove, the point can be moved: onMove(x, isDone), by pointer and by the arrow keys.
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
    this.#plot = new uPlot(this.#options(data), [data.values, ...data.series.map((own) => own.values.map(drawable(data.y)))], this.area);
    this.#plot.root.setAttribute('role', 'img');
    this.#plot.root.setAttribute('aria-label', `${data.y.label} against ${data.x.label}. ${data.summary}`);
    this.caption.textContent = data.summary;
    this.#showPoint();
    this.#showNumbers();
  }

  #options({ x, y, series }) {
    const axis = ({ label, format }) => ({
      label,
      stroke: () => color('--ink'),
      grid: { stroke: () => color('--grid') },
      ticks: { stroke: () => color('--grid') },
      values: (plot, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))),
    });
    return {
      width: Math.max(200, this.area.clientWidth),
      height: height(),
      scales: { x: { time: false, distr: x.isLog ? 3 : 1 }, y: { distr: y.isLog ? 3 : 1, range: y.range } },
      axes: [axis(x), { ...axis(y), size: 104, labelSize: 22 }],
      cursor: { drag: { x: false, y: false } },
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
      this.#showPoint();
    }
  }

  #showPoint() {
    const { point, x, y } = this.#data;
    const plot = this.#plot;
    plot.over.querySelector('.point')?.remove();
    if (!point || !Number.isFinite(point.x) || !Number.isFinite(point.y) || (y.isLog && point.y <= 0)) return;
    const handle = make('div', {
      class: 'point', tabindex: this.#onMove ? 0 : -1, role: this.#onMove ? 'slider' : 'presentation',
      'aria-label': x.label, 'aria-valuenow': point.x, 'aria-valuetext': point.text,
    });
    const place = (at) => {
      handle.style.left = `${plot.valToPos(at, 'x')}px`;
      handle.style.top = `${plot.valToPos(point.y, 'y')}px`;
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
      const at = (event) => within(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
      const move = (event) => {
        place(at(event));
        this.#onMove(at(event), false);
      };
      handle.addEventListener('pointermove', move);
      handle.addEventListener('pointerup', (up) => {
        handle.removeEventListener('pointermove', move);
        this.#onMove(at(up), true);
      }, { once: true });
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
