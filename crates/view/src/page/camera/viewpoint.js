// The page's camera. It tracks who moves the camera, and sends poses to the server at most once per animation frame.
//
// Emits "moved" when the camera changes, and "lag" with the milliseconds from a pose to the first picture that shows it.

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

  /** A typical length of the scene: the initial distance from the eye to the target, limited by the scene's extent. */
  get reach() {
    return Math.min(this.home.distance, this.#extent());
  }

  /** Sets the camera by hand; it then follows no path. */
  set(camera) {
    this.#glide = null;
    this.#app.emit("steered");
    this.#move(camera);
  }

  /** Moves to a camera over `GLIDE` milliseconds. */
  glideTo(camera) {
    if (this.#still.matches) return this.set(camera);
    this.#app.emit("steered");
    this.#glide = { from: this.camera, to: camera, start: performance.now() };
    this.#schedule();
  }

  goHome() {
    this.glideTo(this.home);
  }

  /** The pose with a serial number reported by a picture, if it was sent recently. */
  poseOf(serial) {
    return this.#sent.get(serial)?.pose;
  }

  #meet(scene) {
    this.home = fromPose(withoutLens(scene.camera), nearestAxis(scene.camera.up ?? [0, 1, 0]));
    if (!this.#known) this.camera = this.home;
    this.#known = true;
    // After a restart or a reload of the scene, the server does not have the page's camera.
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

/** Removes the lens settings from a pose: the server reports their values at one time, not as the scene defines them. */
const withoutLens = ({ eye, target, up, fov, height }) => ({ eye, target, up, fov, height });
