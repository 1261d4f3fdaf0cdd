// Three arrows on the selected instance, which move it along the world's axes where its placement allows that.
//
// Emits "gizmo" when it changed, and "placing" with the new translation while an arrow is dragged.

import { nearestOnLine, projector, rayThrough, spanAt } from "./camera.js";
import { add, combine, distance, scale } from "./vectors.js";

const AXES = [
  { along: [1, 0, 0], colour: "#e5705f" },
  { along: [0, 1, 0], colour: "#8cc265" },
  { along: [0, 0, 1], colour: "#5f9be5" },
];
/** Lengths as shares of the picture's height. */
const ARROW = 0.14;
const REACH = 0.018;

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

  /** Takes hold of an arrow that is under a point of the picture. */
  grab(at) {
    const axis = this.#movable ? AXES.find((axis) => this.#isOn(axis, at)) : undefined;
    if (!axis) return false;
    const { translate } = this.#thing.transform;
    this.#held = { axis, start: this.#along(axis, at), centre: this.#centre, translate };
    return true;
  }

  drag(at) {
    if (!this.#held) return false;
    const { axis, start, translate } = this.#held;
    const by = this.#alongFrom(this.#held.centre, axis, at) - start;
    this.#app.emit("placing", add(translate, scale(axis.along, by)));
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
    this.#ring(context, middle, height);
    if (!this.#movable) return;
    for (const axis of AXES) this.#arrow(context, middle, at(this.#tip(axis)), axis.colour);
  }

  get #movable() {
    return this.#thing?.movable && this.#thing.transform;
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

  #size() {
    return ARROW * spanAt(this.#viewpoint.camera, Math.max(1e-6, distance(this.#centre, this.#viewpoint.camera.eye)));
  }

  #tip(axis) {
    return combine([this.#centre, 1], [axis.along, this.#size()]);
  }

  #along(axis, at) {
    return this.#alongFrom(this.#centre, axis, at);
  }

  #alongFrom(origin, axis, at) {
    return nearestOnLine(rayThrough(this.#viewpoint.camera, at, this.#app.aspect), origin, axis.along);
  }

  #isOn(axis, [x, y]) {
    const { aspect } = this.#app;
    const project = projector(this.#viewpoint.camera, aspect);
    const [ax, ay] = project(this.#centre);
    const [bx, by] = project(this.#tip(axis));
    const [dx, dy, px, py] = [(bx - ax) * aspect, by - ay, (x - ax) * aspect, y - ay];
    // What is near the middle belongs to no arrow.
    const share = Math.max(0.2, Math.min(1.1, (px * dx + py * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(px - share * dx, py - share * dy) < REACH;
  }

  #ring(context, { x, y, depth }, height) {
    const radius = (this.#thing.radius / spanAt(this.#viewpoint.camera, depth)) * height;
    if (!(radius > 3 && radius < 2 * height)) return;
    Object.assign(context, { strokeStyle: "rgba(227, 182, 103, 0.55)", lineWidth: 1 });
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    context.stroke();
  }

  #arrow(context, from, to, colour) {
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth: 2.5 });
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x + 9 * Math.cos(angle), to.y + 9 * Math.sin(angle));
    for (const side of [2.4, -2.4]) context.lineTo(to.x + 6 * Math.cos(angle + side), to.y + 6 * Math.sin(angle + side));
    context.fill();
  }
}
