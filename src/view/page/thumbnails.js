// Small pictures of waypoints, taken from the canvas whenever it shows what a waypoint sees.

import { distance } from "./vectors.js";
import { frameAt } from "./times.js";

const HEIGHT = 90;

export class Thumbnails {
  #app;
  #picture;
  #viewpoint;
  #waypoints;
  #playback;
  #taken = new Map();

  constructor(app, { picture, viewpoint, waypoints, playback }) {
    this.#app = app;
    this.#picture = picture;
    this.#viewpoint = viewpoint;
    this.#waypoints = waypoints;
    this.#playback = playback;
    app.on("drawn", (drawn) => this.#look(drawn));
  }

  /** The canvas with what a waypoint sees, or null as long as that was never shown. */
  of(id) {
    return this.#taken.get(id)?.canvas ?? null;
  }

  #look(drawn) {
    for (const key of this.#waypoints.keys) {
      if (this.#shows(drawn, key)) this.#take(key, drawn.samples);
    }
  }

  #shows({ key: serial, frame }, key) {
    const { follow } = this.#playback;
    const own = follow === "waypoints" || (follow === "scene" && !this.#waypoints.changed);
    if (own) return frame === frameAt(key.time, this.#app.clock);
    const pose = this.#viewpoint.poseOf(serial);
    const near = 1e-4 * (1 + distance(key.eye, key.target));
    return pose && distance(pose.eye, key.eye) < near && distance(pose.target, key.target) < near;
  }

  #take(key, samples) {
    const place = JSON.stringify([key.eye, key.target, key.fov]);
    const before = this.#taken.get(key.id);
    if (before?.place === place && before.samples >= samples) return;
    const canvas = before?.canvas ?? document.createElement("canvas");
    const { width, height } = this.#picture.canvas;
    canvas.width = Math.round((HEIGHT * width) / height);
    canvas.height = HEIGHT;
    canvas.getContext("2d").drawImage(this.#picture.canvas, 0, 0, canvas.width, canvas.height);
    this.#taken.set(key.id, { canvas, place, samples });
    if (!before) this.#app.emit("thumbnail", key.id);
  }
}
