// Draws over the picture: camera paths with their keys, the selection, and the gizmo.

import { projector } from "./camera.js";

const SCENE = "rgba(235, 232, 225, 0.55)";
const OWN = "#e3b667";
const DARK = "rgba(10, 10, 12, 0.6)";

export class Overlay {
  shown = true;
  #app;
  #viewpoint;
  #waypoints;
  #gizmo;
  #canvas;
  #context;
  #paths = {};
  #focus = null;
  #scheduled = false;

  constructor(app, { viewpoint, waypoints, gizmo, canvas }) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    this.#waypoints = waypoints;
    this.#gizmo = gizmo;
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    for (const event of ["moved", "waypoints", "time", "selected", "gizmo", "resized"]) app.on(event, () => this.redraw());
    app.on("path", (path) => this.#keep(path));
    app.on("focused", (point) => this.#flash(point));
  }

  toggle() {
    this.shown = !this.shown;
    this.redraw();
  }

  redraw() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => this.#draw());
  }

  #keep(path) {
    this.#paths[path.of] = path.points;
    this.redraw();
  }

  #flash(point) {
    this.#focus = point;
    this.redraw();
    setTimeout(() => {
      this.#focus = null;
      this.redraw();
    }, 900);
  }

  #draw() {
    this.#scheduled = false;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    const dense = devicePixelRatio || 1;
    Object.assign(this.#canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
    this.#context.scale(dense, dense);
    const project = projector(this.#viewpoint.camera, width / height);
    const at = (point) => {
      const [x, y, depth] = project(point);
      return { x: x * width, y: y * height, depth };
    };
    if (this.#focus) this.#cross(at(this.#focus));
    if (this.#app.playing) return;
    this.#gizmo.draw(this.#context, at, height);
    // A camera on its own path would look along the line.
    if (!this.shown || this.#app.following) return;
    this.#line(at, this.#paths.scene, SCENE, this.#waypoints.changed);
    if (this.#waypoints.changed || !this.#paths.scene?.length) this.#line(at, this.#paths.waypoints, OWN);
    this.#waypoints.keys.forEach((key, i) => this.#key(at, key, i + 1));
  }

  #line(at, points, colour, faint = false) {
    if (!points?.length) return;
    const context = this.#context;
    const near = this.#viewpoint.reach * 0.02;
    const placed = points.map(at);
    const trace = () => {
      context.beginPath();
      placed.forEach((point, i) => {
        const before = placed[i - 1];
        if (!before || before.depth < near || point.depth < near) return;
        context.moveTo(before.x, before.y);
        context.lineTo(point.x, point.y);
      });
      context.stroke();
    };
    context.setLineDash(faint ? [3, 5] : []);
    Object.assign(context, { strokeStyle: DARK, lineWidth: 3.5, lineJoin: "round" });
    if (!faint) trace();
    Object.assign(context, { strokeStyle: colour, lineWidth: 1.5 });
    trace();
    context.setLineDash([]);
  }

  #key(at, key, number) {
    const { x, y, depth } = at(key.eye);
    if (depth < this.#viewpoint.reach * 0.02) return;
    const chosen = key.id === this.#waypoints.chosen;
    const context = this.#context;
    if (chosen) this.#sight(at, key);
    context.beginPath();
    context.arc(x, y, chosen ? 6 : 4, 0, 7);
    Object.assign(context, { fillStyle: chosen ? OWN : "#17181b", strokeStyle: OWN, lineWidth: 1.5 });
    context.fill();
    context.stroke();
    Object.assign(context, { font: "600 11px system-ui, sans-serif", fillStyle: "#f4efe4", shadowColor: "#000", shadowBlur: 4 });
    context.fillText(number, x + 9, y + 4);
    context.shadowBlur = 0;
  }

  /** Draws a line from a key's eye to its target. */
  #sight(at, key) {
    const [from, to] = [at(key.eye), at(key.target)];
    if (to.depth < this.#viewpoint.reach * 0.02) return;
    const context = this.#context;
    context.setLineDash([2, 4]);
    Object.assign(context, { strokeStyle: OWN, lineWidth: 1 });
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    context.setLineDash([]);
  }

  #cross({ x, y, depth }) {
    if (depth <= 0) return;
    const context = this.#context;
    Object.assign(context, { strokeStyle: OWN, lineWidth: 1.5 });
    context.strokeRect(x - 9, y - 9, 18, 18);
    context.strokeRect(x - 1, y - 1, 2, 2);
  }
}
