// The gizmo's handles: three arrows that move, three rings that rotate, and a central square that scales.
//
// A handle is { colour, line, measure, change }. `line` is a polyline in world space. `measure` converts a picture position to a position
// along the handle, or null. `change` returns the changed parts of a transform for a drag between two such positions.

import { basis, nearestOnLine, rayThrough, spanAt } from "./camera.js";
import { angleAbout, turned } from "./turns.js";
import { add, combine, cross, distance, normalize, rounded, scale } from "./vectors.js";

const AXES = [
  { axis: [1, 0, 0], colour: "#e5705f" },
  { axis: [0, 1, 0], colour: "#8cc265" },
  { axis: [0, 0, 1], colour: "#5f9be5" },
];
/** Lengths, as shares of the picture's height. */
const ARROW = 0.14;
const RING = 0.1;
const SQUARE = 0.008;
const SEGMENTS = 48;

/** The handles around a point. Their size in the picture does not depend on the distance. */
export function handlesAt(centre, camera, aspect) {
  const size = spanAt(camera, Math.max(1e-6, distance(centre, camera.eye)));
  const rays = (at) => rayThrough(camera, at, aspect);
  return [
    ...AXES.map((axis) => arrow(centre, axis, size, rays)),
    square(centre, size, basis(camera)),
    ...AXES.map((axis) => ring(centre, axis, size, rays)),
  ];
}

function arrow(centre, { axis, colour }, size, rays) {
  return {
    kind: "arrow",
    colour,
    line: [combine([centre, 1], [axis, 0.2 * ARROW * size]), combine([centre, 1], [axis, ARROW * size])],
    measure: (at) => nearestOnLine(rays(at), centre, axis),
    change: ({ translate }, from, to) => ({ translate: add(translate, scale(axis, rounded(to - from, size))) }),
  };
}

function ring(centre, { axis, colour }, size, rays) {
  const east = normalize(cross(axis, [axis[1], axis[2], axis[0]]));
  const north = cross(axis, east);
  const point = (i) => {
    const angle = (2 * Math.PI * i) / SEGMENTS;
    return combine([centre, 1], [east, RING * size * Math.cos(angle)], [north, RING * size * Math.sin(angle)]);
  };
  return {
    kind: "ring",
    colour,
    line: Array.from({ length: SEGMENTS + 1 }, (_, i) => point(i)),
    measure: (at) => angleAbout(axis, centre, rays(at)),
    change: ({ rotate }, from, to) => ({ rotate: turned(rotate, axis, to - from) }),
  };
}

function square(centre, size, { right, top }) {
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]];
  return {
    kind: "square",
    colour: "#e3b667",
    line: corners.map(([x, y]) => combine([centre, 1], [right, x * SQUARE * size], [top, y * SQUARE * size])),
    // Dragging right or up enlarges.
    measure: ([x, y]) => x - y,
    change: ({ scale: before }, from, to) => ({ scale: [before].flat().map((x) => Number((x * Math.exp(3 * (to - from))).toPrecision(5))) }),
  };
}
