// The timeline: frames to scrub through, and waypoint thumbnails that can be dragged to other times.

import { byId, debounced, element } from "./dom.js";
import { frameAt, numberOf, secondsOf, shareOf, ticks, timeAt } from "./times.js";

const WIDEST = 92;
const NARROWEST = 26;

export class Strip {
  #app;
  #playback;
  #waypoints;
  #thumbnails;
  #ruler = byId("ruler");
  #keys = byId("keys");
  #head = byId("playhead");
  #items = new Map();
  #dragged = null;
  #frames = 0;

  constructor(app, { playback, waypoints, thumbnails }) {
    this.#app = app;
    this.#playback = playback;
    this.#waypoints = waypoints;
    this.#thumbnails = thumbnails;
    app.on("time", () => this.#place());
    app.on("scene", () => this.#measure());
    app.on("waypoints", () => (this.#clock.frames === this.#frames ? this.#arrange() : this.#measure()));
    app.on("thumbnail", () => this.#arrange());
    new ResizeObserver(debounced(30, () => this.#measure())).observe(this.#ruler);
    this.#scrubbing();
    this.#ruler.addEventListener("keydown", (event) => this.#stepByKey(event));
  }

  get #clock() {
    return this.#playback.clock;
  }

  #scrubbing() {
    const scrub = (event) => {
      if (!this.#ruler.hasPointerCapture(event.pointerId)) return;
      const frame = frameAt(timeAt(this.#shareAt(event.clientX), this.#clock), this.#clock);
      if (frame !== this.#playback.frame || this.#playback.playing) this.#playback.seek(frame);
    };
    this.#ruler.addEventListener("pointerdown", (event) => {
      this.#ruler.setPointerCapture(event.pointerId);
      scrub(event);
    });
    this.#ruler.addEventListener("pointermove", scrub);
  }

  #stepByKey(event) {
    const last = this.#clock.frames;
    const to = { Home: 1, End: last, PageUp: this.#playback.frame + 10, PageDown: this.#playback.frame - 10 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.#playback.seek(to);
  }

  #shareAt(x) {
    const box = this.#ruler.getBoundingClientRect();
    return (x - box.left) / box.width;
  }

  #place() {
    const { frame, seconds } = this.#playback;
    this.#head.style.setProperty("--share", shareOf(seconds, this.#clock));
    this.#ruler.setAttribute("aria-valuenow", numberOf(frame, this.#clock));
    this.#ruler.setAttribute("aria-valuetext", `Frame ${numberOf(frame, this.#clock)} of ${numberOf(this.#clock.frames, this.#clock)}, ${seconds.toFixed(2)} seconds`);
  }

  #measure() {
    const clock = this.#clock;
    this.#frames = clock.frames;
    this.#ruler.setAttribute("aria-valuemin", numberOf(1, clock));
    this.#ruler.setAttribute("aria-valuemax", numberOf(clock.frames, clock));
    this.#ruler.replaceChildren(...ticks(clock, this.#ruler.clientWidth).map((tick) => this.#mark(tick)));
    this.#place();
    this.#arrange();
  }

  #mark({ frame, labelled }) {
    const made = element("i", { class: labelled ? "mark labelled" : "mark" }, labelled ? String(numberOf(frame, this.#clock)) : "");
    made.style.setProperty("--share", shareOf(secondsOf(frame, this.#clock), this.#clock));
    return made;
  }

  #arrange() {
    const { keys, chosen } = this.#waypoints;
    const items = keys.map((key, i) => this.#item(key, i, key.id === chosen));
    const ids = new Set(keys.map((key) => key.id));
    for (const [id, item] of this.#items) {
      if (ids.has(id)) continue;
      item.remove();
      this.#items.delete(id);
    }
    // Items that are already in order are not moved, so that they keep the focus.
    items.forEach((item, i) => this.#keys.children[i] !== item && this.#keys.insertBefore(item, this.#keys.children[i] ?? null));
    this.#widen(items, keys);
    this.#keys.classList.toggle("empty", keys.length === 0);
  }

  /** Makes each item as wide as possible without overlap. */
  #widen(items, keys) {
    const width = this.#keys.clientWidth;
    const places = keys.map((key) => shareOf(key.time, this.#clock) * width);
    items.forEach((item, i) => {
      const gap = Math.min(places[i] - (places[i - 1] ?? -Infinity), (places[i + 1] ?? Infinity) - places[i]);
      item.style.setProperty("--size", `${Math.max(NARROWEST, Math.min(WIDEST, gap - 4))}px`);
    });
  }

  #item(key, i, chosen) {
    const item = this.#items.get(key.id) ?? this.#make(key.id);
    item.style.setProperty("--share", shareOf(key.time, this.#clock));
    item.classList.toggle("chosen", chosen);
    item.classList.toggle("outside", key.time > secondsOf(this.#app.clock.frames, this.#app.clock) + 1e-6);
    item.setAttribute("aria-current", chosen);
    item.setAttribute("aria-label", `Waypoint ${i + 1} at ${key.time.toFixed(2)} seconds`);
    item.title = `Waypoint ${i + 1}, ${key.time.toFixed(2)} s`;
    item.querySelector("b").textContent = i + 1;
    const picture = this.#thumbnails.of(key.id);
    if (picture && picture.parentElement !== item) item.prepend(picture);
    return item;
  }

  #make(id) {
    const item = element("div", { class: "key", tabIndex: 0, role: "listitem" }, element("b"));
    this.#items.set(id, item);
    item.addEventListener("pointerdown", (event) => this.#grab(event, id, item));
    item.addEventListener("pointermove", (event) => this.#drag(event));
    item.addEventListener("pointerup", () => this.#drop(id));
    item.addEventListener("pointercancel", () => (this.#dragged = null));
    item.addEventListener("keydown", (event) => this.#key(event, id));
    return item;
  }

  #grab(event, id, item) {
    item.setPointerCapture(event.pointerId);
    this.#dragged = { id, x: event.clientX, keys: this.#waypoints.keys, clock: this.#clock, moved: false };
    this.#waypoints.choose(id);
  }

  #drag(event) {
    const dragged = this.#dragged;
    if (!dragged) return;
    const pixels = event.clientX - dragged.x;
    if (!dragged.moved && Math.abs(pixels) < 4) return;
    dragged.moved = true;
    const { id, keys, clock } = dragged;
    const before = shareOf(keys.find((key) => key.id === id).time, clock);
    this.#waypoints.retime(id, timeAt(before + pixels / this.#ruler.clientWidth, clock), keys);
  }

  #drop(id) {
    const moved = this.#dragged?.moved;
    this.#dragged = null;
    if (!moved) this.#waypoints.goTo(id);
  }

  #key(event, id) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { fps, start } = this.#clock;
    if (by && event.altKey) this.#waypoints.shift(id, by);
    else if (by) {
      const { time } = this.#waypoints.keys.find((key) => key.id === id);
      this.#waypoints.update(id, { time: Math.max(start, time + (by * (event.shiftKey ? 10 : 1)) / fps) });
    } else if (event.key === "Enter") this.#waypoints.goTo(id);
    else if ((event.key === "Delete" || event.key === "Backspace") && !event.shiftKey) this.#removeHere(id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #removeHere(id) {
    this.#waypoints.remove(id);
    (this.#items.get(this.#waypoints.chosen) ?? this.#ruler).focus();
  }
}
