// The page's camera: who moved it, and its way to the server, once per animation frame at most.
//
// Emits "moved" whenever it changed, and "lag" with the milliseconds from a pose to the first picture that shows it.

import { between, fromPose, nearestAxis, toPose } from "./camera.js";
import { distance } from "./vectors.js";

const GLIDE = 260;
const KEPT_POSES = 400;

export class Viewpoint {
  camera = fromPose({ eye: [0, 1, 5], target: [0, 0, 0] });
  home = this.camera;
  #app;
  #serial = 0;
  #sent = new Map();
  #dirty = false;
  #scheduled = false;
  #known = false;
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #glide = null;

  constructor(app) {
    this.#app = app;
    app.on("scene", (scene) => this.#meet(scene));
    app.on("camera", (pose) => this.#taken(pose));
    app.on("drawn", (picture) => this.#measure(picture));
  }

  /** A length that is neither tiny nor huge in this scene: that from the eye to what it looked at first. */
  get reach() {
    return Math.min(this.home.distance, this.#extent());
  }

  /** The camera is moved by hand: it follows no path any more. */
  set(camera) {
    this.#glide = null;
    this.#app.emit("steered");
    this.#move(camera);
  }

  /** Goes to a camera in a quarter of a second. */
  glideTo(camera) {
    if (this.#still.matches) return this.set(camera);
    this.#app.emit("steered");
    this.#glide = { from: this.camera, to: camera, start: performance.now() };
    this.#schedule();
  }

  goHome() {
    this.glideTo(this.home);
  }

  /** The pose of a serial that a picture told, if it was sent lately. */
  poseOf(serial) {
    return this.#sent.get(serial)?.pose;
  }

  #meet(scene) {
    this.home = fromPose(withoutLens(scene.camera), nearestAxis(scene.camera.up ?? [0, 1, 0]));
    if (!this.#known) this.camera = this.home;
    this.#known = true;
    // A new server, or the scene after it was loaded again, does not know where the page's camera is.
    if (!this.#app.following && !this.#app.watching) this.#dirty = true;
    this.#schedule();
  }

  #taken(pose) {
    if (!this.#app.following && !this.#app.watching) return;
    this.#glide = null;
    this.#dirty = false;
    this.camera = fromPose(withoutLens(pose), this.home.up);
    this.#schedule();
  }

  #move(camera) {
    this.camera = camera;
    this.#dirty = true;
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    this.#scheduled = false;
    if (this.#glide) this.#goOn(now);
    this.#app.emit("moved", this.camera);
    if (this.#dirty) this.#send(now);
    if (this.#glide || this.#dirty) this.#schedule();
  }

  #goOn(now) {
    const { from, to, start } = this.#glide;
    const share = Math.max(0, Math.min(1, (now - start) / GLIDE));
    this.camera = share < 1 ? between(from, to, share * share * (3 - 2 * share)) : to;
    this.#dirty = true;
    if (share === 1) this.#glide = null;
  }

  #send(now) {
    if (!this.#known || this.#app.connection.crowded) return;
    this.#dirty = false;
    this.#serial += 1;
    const pose = toPose(this.camera);
    this.#sent.set(this.#serial, { pose, now, seen: false });
    this.#sent.delete(this.#serial - KEPT_POSES);
    this.#app.send({ do: "camera", ...pose, key: this.#serial });
  }

  #measure({ key }) {
    const sent = this.#sent.get(key);
    if (!sent || sent.seen) return;
    sent.seen = true;
    this.#app.emit("lag", performance.now() - sent.now);
  }

  #extent() {
    const { min, max } = this.#app.scene?.bounds ?? { min: [0, 0, 0], max: [1, 1, 1] };
    return distance(min, max) || 1;
  }
}

/** A pose whose lens is that of the scene: what the server tells is how the lens is at a time, not how it is given. */
const withoutLens = ({ eye, target, up, fov, height }) => ({ eye, target, up, fov, height });
