// Moves the camera with held keys, pointer drags, pointer lock and the wheel.

import { dolly, fly, look, orbit, pan, toPose } from "./camera.js";
import { isTyping, short } from "./dom.js";
import { distance } from "./vectors.js";

const MOVES = {
  KeyW: [0, 0, 1], KeyS: [0, 0, -1], KeyA: [-1, 0, 0], KeyD: [1, 0, 0], KeyE: [0, 1, 0], KeyQ: [0, -1, 0],
  PageUp: [0, 1, 0], PageDown: [0, -1, 0],
};
const ROLLS = { KeyZ: -1, KeyC: 1 };
const FASTER = 4;
const ROLL_SPEED = 0.8;
const TURN_PER_HEIGHT = 1.6;
/** Time constant in seconds with which the camera approaches a new speed. */
const INERTIA = 0.05;

export class Flight {
  #app;
  #viewpoint;
  #view;
  #held = new Set();
  #gear = 0;
  #velocity = [0, 0, 0, 0];
  #before = 0;
  #drag = null;
  #shift = false;
  #flying = false;

  constructor(app, viewpoint, view) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    this.#view = view;
    addEventListener("keydown", (event) => this.#press(event));
    addEventListener("keyup", (event) => {
      this.#shift = event.shiftKey;
      this.#held.delete(event.code);
    });
    addEventListener("blur", () => this.#held.clear());
    view.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    view.addEventListener("pointermove", (event) => this.#turn(event));
    view.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Speed in scene units per second. */
  get speed() {
    return this.#viewpoint.reach * 0.6 * 2 ** (this.#gear / 2);
  }

  get locked() {
    return document.pointerLockElement === this.#view;
  }

  /** Whether keys are moving the camera. */
  get moving() {
    return this.#held.size > 0;
  }

  changeGear(steps) {
    this.#gear = Math.max(-24, Math.min(24, this.#gear + steps));
    this.#app.say(`Speed ${short(this.speed)} a second`);
  }

  toggleLock() {
    if (this.locked) document.exitPointerLock();
    else this.#view.requestPointerLock()?.catch?.(() => this.#app.say("The browser does not lock the pointer"));
  }

  /** Begins to turn, orbit or pan, depending on the button and modifier keys. `hit` resolves to the point under the pointer. */
  begin(event, hit) {
    const kind = event.button === 1 ? (event.shiftKey ? "pan" : "orbit")
      : event.button === 2 || event.shiftKey ? "pan"
      : event.altKey ? "orbit" : "look";
    this.#drag = { kind, x: event.clientX, y: event.clientY, hit: null };
    hit.then((point) => this.#drag && (this.#drag.hit = point));
  }

  end() {
    this.#drag = null;
  }

  #press(event) {
    this.#shift = event.shiftKey;
    const other = event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]");
    if (other || !(event.code in MOVES || event.code in ROLLS)) return;
    event.preventDefault();
    this.#held.add(event.code);
    if (this.#flying) return;
    this.#flying = true;
    this.#before = performance.now();
    requestAnimationFrame((now) => this.#step(now));
  }

  #step(now) {
    const seconds = Math.min(0.1, Math.max(0, (now - this.#before) / 1000));
    this.#before = now;
    const wanted = [0, 0, 0, 0];
    for (const code of this.#held) {
      MOVES[code]?.forEach((x, i) => (wanted[i] += x));
      wanted[3] += ROLLS[code] ?? 0;
    }
    const speed = this.speed * (this.#shift ? FASTER : 1);
    const goal = wanted.map((x, i) => x * (i < 3 ? speed : ROLL_SPEED));
    const share = 1 - Math.exp(-seconds / INERTIA);
    this.#velocity = this.#velocity.map((v, i) => v + (goal[i] - v) * share);
    const still = this.#held.size === 0 && this.#velocity.every((v, i) => Math.abs(v) < 0.01 * (i < 3 ? speed : 1));
    if (still) {
      this.#velocity = [0, 0, 0, 0];
      this.#flying = false;
      return;
    }
    const [right, up, ahead, roll] = this.#velocity.map((v) => v * seconds);
    const moved = fly(this.#viewpoint.camera, right, up, ahead);
    this.#viewpoint.set({ ...moved, roll: moved.roll + roll });
    requestAnimationFrame((later) => this.#step(later));
  }

  #turn(event) {
    this.#shift = event.shiftKey;
    if (!this.#drag && !this.locked) return;
    const height = this.#view.clientHeight;
    const { camera } = this.#viewpoint;
    const drag = this.#drag ?? { kind: "look" };
    const [dx, dy] = [event.movementX / height, event.movementY / height];
    if (!dx && !dy) return;
    if (drag.kind === "look") this.#viewpoint.set(look(camera, dx * TURN_PER_HEIGHT, -dy * TURN_PER_HEIGHT));
    else if (drag.kind === "orbit") this.#viewpoint.set(orbit(camera, this.#centre(), dx * 4, -dy * 4));
    else this.#viewpoint.set(pan(camera, dx, dy, distance(this.#centre(), camera.eye)));
  }

  #centre() {
    return this.#drag?.hit ?? toPose(this.#viewpoint.camera).target;
  }

  #wheel(event) {
    event.preventDefault();
    const steps = Math.max(-1, Math.min(1, -event.deltaY / 100));
    if (!event.ctrlKey && !event.altKey) return this.changeGear(steps);
    const { camera } = this.#viewpoint;
    this.#viewpoint.set(dolly(camera, toPose(camera).target, 2 ** (-steps / 4)));
  }
}
