/** Plots one value over the last minutes as a line of SVG. */

const width = 300;
const height = 60;
/** Values that a plot keeps. */
const maxValues = 150;

export class Sparkline {
  readonly place = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  readonly #line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
  readonly #values: number[] = [];

  constructor(name: string) {
    this.place.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.place.setAttribute('preserveAspectRatio', 'none');
    this.place.setAttribute('role', 'img');
    this.place.setAttribute('aria-label', `${name} over the last minutes`);
    this.place.append(this.#line);
  }

  /** The scale begins at zero, so that a small change looks small. */
  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length > maxValues) this.#values.shift();
    const top = Math.max(...this.#values) || 1;
    const points = this.#values.map((one, place) => {
      const x = width - (this.#values.length - 1 - place) * (width / (maxValues - 1));
      return `${x.toFixed(1)},${(height - 2 - (one / top) * (height - 4)).toFixed(1)}`;
    });
    this.#line.setAttribute('points', points.join(' '));
  }
}
