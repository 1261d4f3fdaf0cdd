// The time that is shown, whether it runs, and whose path the camera follows meanwhile.
//
// Emits "time" whenever one of them changed.

import { secondsOf } from "./times.js";

const LATE = 400;

export class Playback {
  frame = 1;
  playing = false;
  loop = true;
  /** "scene", "waypoints" or null. */
  follow = null;
  #app;
  #touched = -Infinity;

  constructor(app) {
    this.#app = app;
    app.on("state", (state) => this.#heard(state));
    app.on("scene", () => this.#tell());
    app.on("steered", () => this.followPath(null));
    app.on("drawn", ({ frame }) => this.#shown(frame));
  }

  get seconds() {
    return secondsOf(this.frame, this.#app.clock.fps);
  }

  toggle() {
    this.playing = !this.playing;
    this.#play();
  }

  toggleLoop() {
    this.loop = !this.loop;
    this.#play();
  }

  /** Goes to a frame; what was playing stops. */
  seek(frame) {
    this.frame = Math.max(1, Math.min(this.#app.clock.frames, Math.round(frame)));
    this.#touched = performance.now();
    if (this.playing) {
      this.playing = false;
      this.#play();
    }
    this.#app.send({ do: "time", frame: this.frame });
    this.#changed();
  }

  step(frames) {
    this.seek(this.frame + frames);
  }

  followPath(path) {
    if (this.follow === path) return;
    this.follow = path;
    this.#app.following = path !== null;
    this.#app.send({ do: "follow", path });
    this.#changed();
  }

  /** What the server has to know after it started, or loaded the scene again. */
  #tell() {
    this.frame = Math.min(this.frame, this.#app.clock.frames);
    this.#app.send({ do: "time", frame: this.frame });
    if (this.follow) this.#app.send({ do: "follow", path: this.follow });
    this.#changed();
  }

  #play() {
    this.#touched = performance.now();
    this.#app.send({ do: "play", playing: this.playing, loop: this.loop });
    this.#changed();
  }

  #heard({ frame, playing }) {
    // What was under way when the page changed something tells of before.
    if (performance.now() - this.#touched < LATE) return;
    if (playing === this.playing && (playing || frame === this.frame)) return;
    Object.assign(this, { playing }, playing ? {} : { frame });
    this.#changed();
  }

  #shown(frame) {
    if (!this.playing || frame === this.frame) return;
    this.frame = frame;
    this.#changed();
  }

  #changed() {
    this.#app.playing = this.playing;
    this.#app.emit("time", this);
  }
}
