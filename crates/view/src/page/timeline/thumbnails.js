// Thumbnails of waypoints. They are copied from the canvas whenever it shows a waypoint's view; missing ones of the scene's own keys are
// requested while the page is idle. Thumbnails survive a reload of the page.
//
// Emits "thumbnail" when a waypoint receives its first one.

import { distance } from "./vectors.js";
import { frameAt } from "./times.js";

const HEIGHT = 90;
const STORED = "thumbnails";
/**
 * Worth of a picture of a neighbouring frame: playback may skip a waypoint's frame, so a neighbour is used until a better picture
 * arrives.
 */
const NEIGHBOUR = 0;
const ASKED_SAMPLES = 4;
/** Milliseconds without camera movement before thumbnails are requested. */
const REST = 400;
/** First request number of thumbnails; other requests use smaller numbers. */
const FIRST_ASK = 1_000_000;

export class Thumbnails {
  #app;
  #picture;
  #viewpoint;
  #waypoints;
  #playback;
  #taken = new Map();
  #storing;
  #moved = 0;
  #asked = null;
  #ask = FIRST_ASK;
  #stored = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");

  constructor(app, { picture, viewpoint, waypoints, playback }) {
    this.#app = app;
    this.#picture = picture;
    this.#viewpoint = viewpoint;
    this.#waypoints = waypoints;
    this.#playback = playback;
    app.on("drawn", (drawn) => {
      this.#look(drawn);
      this.#request();
    });
    app.on("moved", () => (this.#moved = performance.now()));
    app.on("waypoints", () => this.#recall());
    // After a change of the scene, any new picture replaces the old thumbnails.
    app.on("scene", () => this.#taken.forEach((taken) => (taken.worth = NEIGHBOUR)));
    // The picture on screen may be slightly older than the waypoint. It is used until there is an exact one.
    app.on("placed-waypoint", (key) => this.#take(key, NEIGHBOUR));
    app.on("still", (still) => still.link && this.#receive(still));
    app.on("opened", () => (this.#asked = null));
  }

  /** The canvas with a waypoint's view, or null if it was never shown. */
  of(id) {
    return this.#taken.get(id)?.canvas ?? null;
  }

  #look(drawn) {
    for (const key of this.#waypoints.keys) {
      const worth = this.#worth(drawn, key);
      if (worth !== null) this.#take(key, worth);
    }
  }

  /** Worth of a picture as a thumbnail of `key`: its number of samples, or null if it shows another view. */
  #worth({ key: serial, frame, samples }, key) {
    const { follow } = this.#playback;
    const own = follow === "waypoints" || (follow === "scene" && !this.#waypoints.changed);
    if (own) {
      const away = Math.abs(frame - frameAt(key.time, this.#app.clock));
      return away === 0 ? samples : away === 1 ? NEIGHBOUR : null;
    }
    const pose = this.#viewpoint.poseOf(serial);
    const near = 1e-4 * (1 + distance(key.eye, key.target));
    return pose && distance(pose.eye, key.eye) < near && distance(pose.target, key.target) < near ? samples : null;
  }

  #take(key, worth) {
    const before = this.#taken.get(key.id);
    const place = placeOf(key);
    if (before?.place === place && before.worth >= worth) return;
    const { width, height } = this.#picture.canvas;
    const canvas = before?.canvas ?? document.createElement("canvas");
    Object.assign(canvas, { width: Math.round((HEIGHT * width) / height), height: HEIGHT });
    canvas.getContext("2d").drawImage(this.#picture.canvas, 0, 0, canvas.width, canvas.height);
    this.#taken.set(key.id, { canvas, place, worth });
    if (!before) this.#app.emit("thumbnail", key.id);
    this.#store();
  }

  /** Requests the thumbnail of a scene key that has none. */
  #request() {
    const missing = this.#waypoints.keys.find((key) => !this.#taken.has(key.id));
    const rests = !this.#app.playing && performance.now() - this.#moved > REST;
    if (!missing || !rests || this.#waypoints.changed || this.#asked) return;
    this.#ask += 1;
    this.#asked = { ask: this.#ask, key: missing };
    const { width, height } = this.#picture.canvas;
    const size = [Math.round((HEIGHT * width) / height), HEIGHT];
    const frame = frameAt(missing.time, this.#app.clock);
    this.#app.send({ do: "still", size, samples: ASKED_SAMPLES, format: "png", ask: this.#ask, frame });
  }

  async #receive({ ask, link }) {
    if (ask !== this.#asked?.ask) return;
    const { key } = this.#asked;
    await this.#load(key.id, placeOf(key), link);
    this.#asked = null;
    this.#request();
  }

  #store() {
    const known = this.#waypoints.keys.map((key) => this.#taken.get(key.id)).filter(Boolean);
    clearTimeout(this.#storing);
    this.#storing = setTimeout(() => {
      this.#stored = Object.fromEntries(known.map(({ place, canvas }) => [place, canvas.toDataURL("image/jpeg", 0.7)]));
      sessionStorage.setItem(STORED, JSON.stringify(this.#stored));
    }, 300);
  }

  #recall() {
    for (const key of this.#waypoints.keys) {
      const link = this.#stored[placeOf(key)];
      if (link && !this.#taken.has(key.id)) this.#load(key.id, placeOf(key), link);
    }
  }

  async #load(id, place, link) {
    const image = new Image();
    image.src = link;
    await image.decode();
    if (this.#taken.has(id)) return;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    this.#taken.set(id, { canvas, place, worth: NEIGHBOUR });
    this.#app.emit("thumbnail", id);
  }
}

/** A key's view as text, rounded so that saving the file does not change it. */
function placeOf({ eye, target, fov }) {
  return [...eye, ...target, fov ?? 0].map((x) => Number(x.toPrecision(4)) + 0).join();
}
