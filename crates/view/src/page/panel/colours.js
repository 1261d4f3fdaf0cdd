// Colours in scene file syntax: sRGB as "#rrggbb" in quotes, or three linear numbers.

const encode = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
const decode = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
const hex = (x) => Math.round(Math.max(0, Math.min(1, x)) * 255).toString(16).padStart(2, "0");

/** Converts `text` to #rrggbb; null if it is not a colour. */
export function colourOf(text) {
  const quoted = text.match(/^\s*"?(#[0-9a-f]{6})"?\s*$/i);
  if (quoted) return quoted[1].toLowerCase();
  const numbers = text.match(/^\s*\(([^()]*)\)\s*$/)?.[1].split(",").map(Number);
  if (numbers?.length !== 3 || !numbers.every(Number.isFinite)) return null;
  return `#${numbers.map((x) => hex(encode(x))).join("")}`;
}

/** Writes #rrggbb in the syntax of `like`. */
export function textOf(colour, like) {
  if (!like.trim().startsWith("(")) return `"${colour}"`;
  const linear = [1, 3, 5].map((at) => decode(parseInt(colour.slice(at, at + 2), 16) / 255));
  return `(${linear.map((x) => Number(x.toFixed(4))).join(", ")})`;
}
