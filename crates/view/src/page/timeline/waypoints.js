// The flight's keys: those of the scene until one is changed, then the page's own until they are saved.
//
// A key is { id, eye, target, time, roll?, fov?, focus?, f_stop?, radius? }. For a parallel camera, `fov` is the height of the view. Emits
// "waypoints" when the keys or the selected key change.

import { fromPose, toPose } from "./camera.js";
import { distance, rounded } from "./vectors.js";
import { frameAt, inOrder, swapped, withKey } from "./times.js";

const OPTICS = ["fov", "focus", "f_stop", "radius"];
const FIELDS = ["eye", "target", "time", "roll", ...OPTICS];

/** Converts a key to message format: fields without a value are omitted. */
const plain = (key) => Object.fromEntries(FIELDS.map((name) => [name, key[name]]).filter(([, value]) => value !== undefined && value !== null));

export class Waypoints {
  keys = [];
  chosen = null;
  /** Whether there are unsaved changes. */
  changed = false;
  pace = null;
  #app;
  #viewpoint;
  #playback;
  #scenes = null;
  #next = 1;
  #queued = false;

  constructor(app, viewpoint, playback) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    this.#playback = playback;
    app.on("scene", () => this.#meet());
    app.on("path", (path) => this.#path(path));
    app.on("kept", (part) => part === "camera" && this.#saved());
  }

  get chosenKey() {
    return this.keys.find((key) => key.id === this.chosen);
  }

  /** Adds the current camera as a key, at the current time or, if that is taken, after it. */
  add() {
    const key = { id: this.#next++, ...this.#here(), time: this.#playback.seconds };
    this.chosen = key.id;
    this.#change(withKey(this.keys, key, this.#app.clock));
    this.#app.emit("placed-waypoint", key);
    const { time } = this.chosenKey;
    this.#app.say(`Waypoint ${this.keys.indexOf(this.chosenKey) + 1} at ${time.toFixed(2)} s`);
    // Moves to the new key's time, so that the next key comes after it.
    this.#playback.seek(frameAt(time, this.#playback.clock));
  }

  replace(id = this.chosen) {
    this.update(id, this.#here());
  }

  remove(id = this.chosen) {
    const at = this.keys.findIndex((key) => key.id === id);
    if (at < 0) return;
    const left = this.keys.filter((key) => key.id !== id);
    this.chosen = left[Math.min(at, left.length - 1)]?.id ?? null;
    this.#change(left);
  }

  /** Removes all keys, to begin a new flight. */
  clear() {
    this.chosen = null;
    this.#change([]);
    this.#app.say("No waypoints: K sets the first");
  }

  update(id, fields) {
    this.#change(this.keys.map((key) => (key.id === id ? { ...key, ...fields } : key)));
  }

  /** Moves a key of `keys` to another time. Keys that the drag has passed keep the positions they have in `keys`. */
  retime(id, time, keys) {
    this.#change(keys.map((key) => (key.id === id ? { ...key, time } : key)));
  }

  /** Exchanges the poses of a key and its neighbour; `by` is -1 or 1. */
  shift(id, by) {
    const at = this.keys.findIndex((key) => key.id === id);
    this.#change(swapped(this.keys, at, at + by));
  }

  choose(id) {
    this.chosen = id;
    this.#app.emit("waypoints", this);
  }

  /** Selects a key, goes to its time, and moves the camera there. */
  goTo(id) {
    const key = this.keys.find((key) => key.id === id);
    if (!key) return;
    this.choose(id);
    this.#playback.seek(frameAt(key.time, this.#playback.clock));
    const { home } = this.#viewpoint;
    const span = home.height === null || key.fov === undefined ? {} : { height: key.fov, fov: home.fov };
    const there = fromPose({ ...toPose(home), ...plain(key), ...span }, home.up);
    const roll = key.roll === undefined ? home.roll : (key.roll * Math.PI) / 180;
    this.#viewpoint.glideTo({ ...there, roll });
  }

  goToNeighbour(by) {
    const at = this.keys.findIndex((key) => key.id === this.chosen);
    const next = at < 0 ? (by > 0 ? 0 : this.keys.length - 1) : at + by;
    this.goTo(this.keys[Math.max(0, Math.min(this.keys.length - 1, next))]?.id);
  }

  /** Restores the scene's own keys. */
  revert() {
    this.#forget();
    this.#adopt();
  }

  #here() {
    const { camera } = this.#viewpoint;
    const { eye, target } = toPose(camera);
    const optics = Object.fromEntries(OPTICS.map((name) => [name, camera[name] ?? undefined]));
    const span = (of) => of.height ?? of.fov;
    // Lens values equal to those of the scene's camera are omitted, so that they follow the file.
    optics.fov = Math.abs(span(camera) - span(this.#viewpoint.home)) < 1e-4 ? undefined : span(camera);
    const { roll } = this.#viewpoint.home;
    optics.roll = Math.abs(camera.roll - roll) < 1e-4 ? undefined : rounded((camera.roll * 180) / Math.PI, 1);
    const tidy = (point) => point.map((x) => rounded(x, camera.distance));
    return { eye: tidy(eye), target: tidy(target), ...optics };
  }

  #meet() {
    const kept = this.#stored();
    if (!this.changed && kept) this.#take(kept.keys, kept.pace, true);
    else if (this.changed) this.#send();
  }

  #path({ of, keys, pace }) {
    if (of !== "scene") return;
    this.#scenes = { keys: keys ?? [], pace: pace ?? null };
    if (!this.changed) this.#adopt();
  }

  #adopt() {
    const scenes = this.#scenes ?? { keys: [], pace: null };
    this.#take(scenes.keys, scenes.pace, false);
  }

  /** Replaces the keys. A key near an old one keeps the old one's id. */
  #take(keys, pace, changed) {
    const near = (a, b) => distance(a.eye, b.eye) + distance(a.target, b.target) < 1e-3 * (1 + distance(a.eye, a.target));
    const known = [...this.keys];
    const idOf = (key) => {
      const at = known.findIndex((old) => near(old, key));
      return at < 0 ? this.#next++ : known.splice(at, 1)[0].id;
    };
    this.keys = keys.map((key) => ({ ...key, id: idOf(key) }));
    Object.assign(this, { pace, changed });
    if (!this.chosenKey) this.chosen = null;
    this.#send();
    this.#app.emit("waypoints", this);
  }

  #change(keys) {
    this.keys = inOrder(keys, this.#app.clock.fps);
    this.changed = true;
    this.#store();
    if (!this.#queued) requestAnimationFrame(() => this.#send());
    this.#queued = true;
    this.#app.emit("waypoints", this);
  }

  #send() {
    this.#queued = false;
    const pace = this.pace === null ? {} : { pace: this.pace };
    this.#app.send({ do: "waypoints", keys: this.keys.map(plain), ...pace });
  }

  #saved() {
    this.#forget();
    this.#app.emit("waypoints", this);
  }

  #forget() {
    this.changed = false;
    sessionStorage.removeItem(this.#place);
  }

  /** Stores unsaved keys, so that they survive a reload of the page. */
  #store() {
    sessionStorage.setItem(this.#place, JSON.stringify({ keys: this.keys, pace: this.pace }));
  }

  #stored() {
    return JSON.parse(sessionStorage.getItem(this.#place) ?? "null");
  }

  get #place() {
    return `waypoints of ${this.#app.scene?.file}`;
  }
}
