// Handles on the selected instance that move, rotate and scale it, if its placement allows that.
//
// Emits "gizmo" when it changes, and "placing" with the changed parts of the transform while a handle is dragged.

import { projector, spanAt } from "./camera.js";
import { handlesAt } from "./handles.js";
import { add } from "./vectors.js";

/** Greatest distance from the pointer to a handle, as a share of the picture's height. */
const REACH = 0.014;

export class Gizmo {
  #app;
  #viewpoint;
  #thing = null;
  #centre = null;
  #held = null;

  constructor(app, viewpoint) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    app.on("selected", (thing) => this.#show(thing));
    app.on("placed", ({ instance, by }) => this.#follow(instance, by));
  }

  /** Grabs the handle under a point of the picture. Returns whether there is one. */
  grab(at) {
    const handle = this.#handleAt(at);
    if (!handle) return false;
    this.#held = { handle, from: handle.measure(at), transform: this.#thing.transform };
    return true;
  }

  drag(at) {
    if (!this.#held) return false;
    const { handle, from, transform } = this.#held;
    const to = handle.measure(at);
    if (to !== null) this.#app.emit("placing", handle.change(transform, from, to));
    return true;
  }

  letGo() {
    const held = this.#held !== null;
    this.#held = null;
    return held;
  }

  draw(context, at, height) {
    if (!this.#thing) return;
    const middle = at(this.#centre);
    if (middle.depth <= 0) return;
    this.#bounds(context, middle, height);
    for (const handle of this.#handles) this.#draw(context, handle, handle.line.map(at));
  }

  get #handles() {
    const { movable, transform } = this.#thing ?? {};
    return movable && transform ? handlesAt(this.#centre, this.#viewpoint.camera, this.#app.aspect) : [];
  }

  #show(thing) {
    this.#thing = thing;
    this.#centre = thing?.centre ?? null;
    this.#app.emit("gizmo");
  }

  #follow(instance, by) {
    if (this.#thing?.instance !== instance) return;
    this.#centre = add(this.#centre, by);
    this.#app.emit("gizmo");
  }

  /** The draggable handle nearest to a point of the picture, if it is within reach. */
  #handleAt(at) {
    const { aspect } = this.#app;
    const project = projector(this.#viewpoint.camera, aspect);
    const near = (handle) => {
      const points = handle.line.map(project).map(([x, y]) => [(x - at[0]) * aspect, y - at[1]]);
      return Math.min(...points.slice(1).map((point, i) => fromSegment(points[i], point)));
    };
    const within = this.#handles.map((handle) => ({ handle, distance: near(handle) }));
    const usable = within.filter(({ handle, distance }) => distance < REACH && handle.measure(at) !== null);
    return usable.sort((a, b) => a.distance - b.distance)[0]?.handle;
  }

  #bounds(context, { x, y, depth }, height) {
    const radius = (this.#thing.radius / spanAt(this.#viewpoint.camera, depth)) * height;
    if (!(radius > 3 && radius < 2 * height)) return;
    Object.assign(context, { strokeStyle: "rgba(227, 182, 103, 0.55)", lineWidth: 1 });
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    context.stroke();
  }

  #draw(context, { kind, colour }, points) {
    const lineWidth = { arrow: 2.5, ring: 1.5, square: 3 }[kind];
    Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth });
    context.globalAlpha = kind === "ring" ? 0.7 : 1;
    context.beginPath();
    points.forEach(({ x, y }) => context.lineTo(x, y));
    context.stroke();
    context.globalAlpha = 1;
    if (kind === "arrow") this.#head(context, ...points);
  }

  #head(context, from, to) {
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    context.beginPath();
    context.moveTo(to.x + 9 * Math.cos(angle), to.y + 9 * Math.sin(angle));
    for (const side of [2.4, -2.4]) context.lineTo(to.x + 6 * Math.cos(angle + side), to.y + 6 * Math.sin(angle + side));
    context.fill();
  }
}

/** Distance of the origin from the segment between two points. */
function fromSegment([ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.max(0, Math.min(1, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(ax + share * dx, ay + share * dy);
}
