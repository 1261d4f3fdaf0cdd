// Three-component vectors as plain arrays.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
export const distance = (a, b) => length(sub(a, b));

export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** Normalizes `a`; returns `otherwise` if it has no length. */
export function normalize(a, otherwise = [0, 0, -1]) {
  const l = length(a);
  return l > 0 && Number.isFinite(l) ? scale(a, 1 / l) : otherwise;
}

/** Weighted sum of vectors: `combine([a, 2], [b, 3])`. */
export const combine = (...terms) => terms.reduce((sum, [v, s]) => add(sum, scale(v, s)), [0, 0, 0]);

/** Rounds a coordinate, with an error too small to be visible at a distance or size of `size`. */
export function rounded(x, size) {
  const step = 10 ** (Math.floor(Math.log10(size)) - 5);
  return Number((Math.round(x / step) * step).toPrecision(9)) + 0;
}
