// Names the object under the pointer, and selects it, frames it or focuses on it.
//
// Emits "selected" with the picked object, or null.

import { depth, frame, projector } from "./camera.js";
import { debounced, element, short } from "./dom.js";

const REST = 140;
const CLICK_PIXELS = 4;
const PATIENCE = 1500;

export class Pointer {
  /** The object picked by the last click. */
  selected = null;
  #app;
  #viewpoint;
  #flight;
  #gizmo;
  #view;
  #label;
  #asked = new Map();
  #ask = 0;
  #at = null;
  #timer;
  #pressed = null;
  /** The frame in which the selected object was last picked. */
  #seen = null;

  constructor(app, { viewpoint, flight, gizmo, view, label }) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    this.#flight = flight;
    this.#gizmo = gizmo;
    this.#view = view;
    this.#label = label;
    app.on("picked", (thing) => this.#answer(thing));
    app.on("moved", () => this.#hide());
    app.on("time", debounced(REST, (playback) => this.#lookAgain(playback)));
    view.addEventListener("pointerdown", (event) => this.#press(event));
    view.addEventListener("pointermove", (event) => this.#hover(event));
    view.addEventListener("pointerup", (event) => this.#release(event));
    view.addEventListener("pointercancel", () => this.#flight.end());
    view.addEventListener("pointerleave", () => this.#leave());
    view.addEventListener("dblclick", () => this.frameIt());
  }

  /** Picks the object at a point of the picture; resolves to null if the server does not answer. */
  pick(at) {
    this.#ask += 1;
    const ask = this.#ask;
    this.#app.send({ do: "pick", at, ask });
    return new Promise((resolve) => {
      this.#asked.set(ask, resolve);
      setTimeout(() => this.#answer({ ask, instance: null, lost: true }), PATIENCE);
    });
  }

  /** Picks at the pointer, or at the centre of the picture if the pointer is elsewhere. */
  pickHere() {
    return this.pick(this.#at ?? [0.5, 0.5]);
  }

  async frameIt() {
    const thing = await this.pickHere();
    if (!thing.instance) return this.#app.say("There is nothing to frame");
    this.select(thing);
    this.frame(thing);
  }

  frame({ centre, radius }) {
    this.#viewpoint.glideTo(frame(this.#viewpoint.camera, centre, radius, this.#app.aspect));
  }

  async selectHere() {
    this.select(await this.pickHere());
  }

  async focusHere() {
    const thing = await this.pickHere();
    if (!thing.point) return this.#app.say("There is nothing to focus on");
    this.focusOn(thing.point);
  }

  focusOn(point) {
    const { camera } = this.#viewpoint;
    const focus = Math.max(1e-4, depth(camera, point));
    this.#viewpoint.set({ ...camera, focus });
    const sharp = camera.f_stop === null && camera.radius === null && this.#app.scene?.lens === "none";
    this.#app.say(`Focus at ${short(focus)}${sharp ? "; an f-stop in the panel blurs the rest" : ""}`);
    this.#app.emit("focused", point);
  }

  /** Animated objects move after they were picked: picks again at the same place to update or end the selection. */
  async #lookAgain({ playing, frame }) {
    const { selected } = this;
    if (playing || !selected || frame === this.#seen) return;
    this.#seen = frame;
    const [x, y, depth] = projector(this.#viewpoint.camera, this.#app.aspect)(selected.point);
    if (depth <= 0 || x < 0 || x > 1 || y < 0 || y > 1) return;
    const now = await this.pick([x, y]);
    if (now.instance === selected.instance && this.selected === selected) this.select(now);
  }

  select(thing) {
    this.selected = thing?.instance ? thing : null;
    this.#app.emit("selected", this.selected);
  }

  #answer(thing) {
    const resolve = this.#asked.get(thing.ask);
    this.#asked.delete(thing.ask);
    resolve?.(thing);
  }

  #press(event) {
    this.#view.focus({ preventScroll: true });
    this.#hide();
    event.preventDefault();
    this.#view.setPointerCapture(event.pointerId);
    this.#at = this.#place(event);
    if (event.button === 0 && this.#gizmo.grab(this.#at)) return;
    this.#pressed = { x: event.clientX, y: event.clientY, moved: false };
    const plainLook = event.button === 0 && !event.altKey && !event.shiftKey;
    this.#flight.begin(event, plainLook ? Promise.resolve(null) : this.pick(this.#at).then((thing) => thing.point ?? null));
  }

  async #release(event) {
    this.#flight.end();
    if (this.#gizmo.letGo()) return;
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed || pressed.moved || event.button !== 0 || this.#flight.locked) return;
    if (event.shiftKey) return this.focusHere();
    this.select(await this.pick(this.#place(event)));
  }

  #hover(event) {
    this.#at = this.#place(event);
    if (this.#gizmo.drag(this.#at)) return;
    const pressed = this.#pressed;
    if (pressed) {
      pressed.moved ||= Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK_PIXELS;
      return;
    }
    this.#hide();
    if (event.pointerType !== "touch" && !this.#flight.locked) this.#timer = setTimeout(() => this.#name(), REST);
  }

  async #name() {
    if (!this.#at || this.#flight.moving || this.#app.playing || this.#ask > 0 && this.#asked.size > 0) return;
    const at = this.#at;
    const thing = await this.pick(at);
    if (thing.instance && this.#at === at) this.#show(thing, at);
  }

  #show({ instance, mesh, material, distance }, [x, y]) {
    const about = [mesh, material, Number.isFinite(distance) ? `${short(distance)} away` : null];
    this.#label.replaceChildren(
      element("strong", {}, instance),
      ...about.filter(Boolean).map((text) => element("span", {}, text)),
    );
    const style = this.#label.style;
    style.setProperty("--x", `${x * 100}%`);
    style.setProperty("--y", `${y * 100}%`);
    this.#label.classList.toggle("left", x > 0.6);
    this.#label.classList.toggle("above", y > 0.75);
    this.#label.hidden = false;
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#label.hidden = true;
  }

  #leave() {
    this.#hide();
    this.#at = null;
  }

  #place(event) {
    const box = this.#view.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }
}
