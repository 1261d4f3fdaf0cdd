// Panel sections for the picture's settings and the lens.

import { element, exact } from "./dom.js";
import { row } from "./panel.js";

const NONE = "\u0000none";
/** When pictures are denoised: by whether there is time for moving ones, and whether finished ones are. */
const DENOISED = { both: "on", moving: "while it moves", finished: "when finished", never: "not possible here" };

export class Settings {
  #app;
  #viewpoint;
  #playback;
  #fields = new Map();
  #optics = new Map();
  #cameras;
  #chosen = {};

  constructor(app, { viewpoint, playback, panel }) {
    this.#app = app;
    this.#viewpoint = viewpoint;
    this.#playback = playback;
    const picture = panel.section("Picture").body;
    this.#choice(picture, "animation", "Animation");
    this.#choice(picture, "integrator", "Integrator");
    this.#choice(picture, "view", "Layer");
    this.#choice(picture, "tone_map", "Tone map");
    this.#number(picture, "exposure", "Exposure", { step: "any" });
    this.#number(picture, "samples", "Samples", { step: 1, least: 1 });
    this.#number(picture, "bounces", "Bounces", { step: 1, least: 0 });
    this.#number(picture, "shutter", "Shutter, frames", { step: "any", least: 0 });
    this.#choice(picture, "denoise", "Denoise");
    const lens = panel.section("Camera").body;
    this.#through(lens);
    this.#optic(lens, "fov", "Field of view, °", { least: 0.1, most: 179 });
    this.#optic(lens, "height", "Height of view", { least: 0, empty: "perspective" });
    this.#optic(lens, "f_stop", "f-stop", { least: 0.001, empty: "as the scene" });
    this.#optic(lens, "radius", "Aperture radius", { least: 0, empty: "as the scene" });
    this.#optic(lens, "focus", "Focus distance", { least: 0, empty: "as the scene" });
    app.on("scene", (scene) => this.#meet(scene));
    app.on("moved", (camera) => this.#showOptics(camera));
    app.on("state", ({ denoises }) => this.#tellDenoising(denoises));
  }

  set(name, value) {
    this.#chosen[name] = value;
    if (value === null) delete this.#chosen[name];
    this.#app.send({ do: "set", name, value });
    this.#show(name);
  }

  value(name) {
    return this.#chosen[name] ?? this.#app.scene?.settings?.[name] ?? null;
  }

  /** Selects the next or previous choice of a setting. */
  cycle(name, by) {
    const { input } = this.#fields.get(name);
    const values = [...input.options].map((option) => option.value);
    if (values.length === 0) return;
    const next = values[(values.indexOf(input.value) + by + values.length) % values.length];
    this.set(name, next === NONE ? null : next);
    this.#app.say(`${this.#fields.get(name).label}: ${next === NONE ? "none" : next}`);
  }

  brighter(stops) {
    const exposure = Math.round((Number(this.value("exposure") ?? 0) + stops) * 100) / 100;
    this.set("exposure", exposure);
    this.#app.say(`Exposure ${exposure}`);
  }

  #choice(body, name, label) {
    const input = element("select", { onchange: () => this.set(name, input.value === NONE ? null : input.value) });
    this.#add(body, name, label, input);
  }

  #number(body, name, label, { step, least }) {
    const input = element("input", { type: "number", step, min: least });
    input.addEventListener("input", () => {
      if (input.value !== "" && input.validity.valid) this.set(name, Number(input.value));
    });
    input.addEventListener("change", () => input.value === "" && this.set(name, null));
    this.#add(body, name, label, input);
  }

  #add(body, name, label, input) {
    const made = row(label, input, { undo: () => this.set(name, null) });
    body.append(made.row);
    this.#fields.set(name, { input, label, mark: made.mark });
  }

  #meet(scene) {
    this.#animations(scene);
    this.#options("integrator", scene.integrators);
    this.#options("tone_map", scene.tone_maps);
    this.#options("view", scene.views, "picture");
    this.#options("denoise", ["off"], scene.denoises_finished ? DENOISED.both : DENOISED.moving);
    const names = (scene.cameras ?? []).map((name) => new Option(name, name));
    this.#cameras.replaceChildren(new Option("choose…", ""), ...names);
    this.#cameras.closest(".row").hidden = names.length === 0;
    // Settings chosen on this page outlast a reload of the scene and a reconnect.
    for (const [name, value] of Object.entries(this.#chosen)) this.#app.send({ do: "set", name, value });
    for (const name of this.#fields.keys()) this.#show(name);
  }

  #options(name, values = [], none = null) {
    const { input } = this.#fields.get(name);
    input.replaceChildren(...(none ? [new Option(none, NONE)] : []), ...values.map((value) => new Option(value, value)));
  }

  /** The animations of a model, all of them, and none. */
  #animations({ animations = [], settings }) {
    const { input } = this.#fields.get("animation");
    const named = animations.length < 2 || animations.includes("all") ? animations : ["all", ...animations];
    // Flags may name several animations, or an index.
    const flag = settings?.animation ?? "";
    const known = flag === "" || named.includes(flag) ? named : [flag, ...named];
    input.replaceChildren(new Option("at rest", ""), ...known.map((name) => new Option(name, name)));
    input.closest(".row").hidden = animations.length === 0;
  }

  /** Labels the default choice of denoising: only while moving, or not possible (slow device or unsuitable picture). */
  #tellDenoising(denoises) {
    const lacks = denoises === false && this.value("denoise") === null;
    const finished = this.#app.scene?.denoises_finished;
    const text = lacks ? (finished ? DENOISED.finished : DENOISED.never) : finished ? DENOISED.both : DENOISED.moving;
    const { input } = this.#fields.get("denoise");
    if (!input.options[0] || input.options[0].textContent === text) return;
    input.options[0].textContent = text;
    input.title = lacks ? "For moving pictures, this takes too long here, or the picture has no noise that could be told" : "";
  }

  #show(name) {
    const { input, mark } = this.#fields.get(name);
    const value = this.value(name);
    if (input.tagName === "SELECT") input.value = value ?? NONE;
    else if (input !== document.activeElement) input.value = typeof value === "number" ? exact(value) : (value ?? "");
    mark(name in this.#chosen);
  }

  #through(body) {
    this.#cameras = element("select", {});
    this.#cameras.addEventListener("change", () => {
      if (this.#cameras.value) this.#playback.followPath("scene", this.#cameras.value);
      this.#cameras.value = "";
    });
    body.append(row("Look through", this.#cameras).row);
  }

  #optic(body, name, label, { least, most, empty = "" }) {
    const input = element("input", { type: "number", step: "any", min: least, max: most, placeholder: empty });
    input.addEventListener("input", () => {
      const value = input.value === "" ? null : Number(input.value);
      if (!input.validity.valid || value === 0) return;
      this.#viewpoint.set({ ...this.#viewpoint.camera, [name]: value ?? (name === "fov" ? this.#viewpoint.home.fov : null) });
    });
    this.#optics.set(name, input);
    body.append(row(label, input).row);
  }

  #showOptics(camera) {
    for (const [name, input] of this.#optics) if (input !== document.activeElement) input.value = exact(camera[name] ?? NaN);
  }
}
