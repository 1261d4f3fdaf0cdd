// Playback state: the current frame, whether the animation plays, and which path the camera follows.
//
// Emits "time" when any of these changes.

import { clockWith, secondsOf } from "./times.js";

const LATE = 400;

export class Playback {
  frame = 1;
  playing = false;
  loop = true;
  /** "scene", "waypoints" or null. The initial path is the scene's, as in a render. */
  follow = "scene";
  #app;
  #camera = null;
  #keys = [];
  #touched = -Infinity;

  constructor(app) {
    this.#app = app;
    app.following = true;
    app.on("state", (state) => this.#heard(state));
    app.on("scene", () => this.#tell());
    app.on("steered", () => this.followPath(null));
    app.on("steered-by-another", () => this.followPath(null));
    app.on("drawn", ({ frame }) => this.#shown(frame));
    app.on("waypoints", ({ keys }) => (this.#keys = keys));
  }

  get seconds() {
    return secondsOf(this.frame, this.#app.clock);
  }

  /** The timeline's clock. It is longer than the animation if a waypoint lies beyond its end. */
  get clock() {
    return clockWith(this.#keys, this.#app.clock);
  }

  toggle() {
    this.playing = !this.playing;
    this.#play();
  }

  toggleLoop() {
    this.loop = !this.loop;
    this.#play();
  }

  /** Goes to a frame and stops playback. */
  seek(frame) {
    this.frame = Math.max(1, Math.min(this.clock.frames, Math.round(frame)));
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

  /** Follows a path. For the scene's path, `camera` may name one of its cameras. */
  followPath(path, camera = null) {
    if (this.follow === path && camera === null) return;
    this.follow = path;
    this.#camera = camera;
    this.#app.following = path !== null;
    this.#tellPath();
    this.#changed();
  }

  /** Sends the state that a server lacks after a start or a reload of the scene. */
  #tell() {
    this.frame = Math.min(this.frame, this.clock.frames);
    this.#app.send({ do: "time", frame: this.frame });
    if (this.follow) this.#tellPath();
    this.#changed();
  }

  #tellPath() {
    this.#app.send({ do: "follow", path: this.follow, ...(this.#camera && { camera: this.#camera }) });
  }

  #play() {
    this.#touched = performance.now();
    this.#app.send({ do: "play", playing: this.playing, loop: this.loop });
    this.#changed();
  }

  #heard({ frame, playing }) {
    // Reports that were sent before the page's last change are outdated.
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
