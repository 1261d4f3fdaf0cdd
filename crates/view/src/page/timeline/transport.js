// The row of playback buttons above the timeline.

import { byId, element } from "./dom.js";
import { button, setIcon } from "./icons.js";
import { inSeconds, numberOf } from "./times.js";

const PATHS = [
  [null, "Free", "The camera is where you flew it"],
  ["scene", "Scene", "The camera follows the scene's own path"],
  ["waypoints", "Waypoints", "The camera follows the waypoints"],
];

export class Transport {
  #playback;
  #waypoints;
  #play;
  #loop;
  #frame;
  #time;
  #radios = new Map();
  #save;

  constructor(app, { playback, waypoints, actions }) {
    this.#playback = playback;
    this.#waypoints = waypoints;
    this.#buttons(actions);
    this.#follow();
    app.on("time", () => this.#show());
    app.on("waypoints", () => this.#show());
    app.on("values-changed", () => this.#show());
    app.on("panel", (shown) => byId("panel-button").setAttribute("aria-expanded", shown));
  }

  #buttons(actions) {
    const icon = (name, action, more = {}) =>
      button({ name, label: action.title, key: action.keys[0], onclick: action.run, class: "icon-button", ...more });
    this.#play = icon("play", actions.play);
    this.#loop = icon("loop", actions.loop);
    this.#frame = element("input", { class: "frame", type: "number", step: 1, "aria-label": "Frame" });
    this.#frame.addEventListener("change", () => this.#playback.seek(this.#typed()));
    this.#time = element("span", { class: "time" });
    byId("transport").append(icon("back", actions.before), this.#play, icon("forward", actions.after), this.#loop, this.#frame, this.#time);
    this.#save = button({ text: "Save", label: "Save the flight into the scene file", key: "Ctrl+S", class: "save", onclick: actions.save.run });
    byId("flight").append(button({ name: "plus", text: "Waypoint", label: actions.add.title, key: "K", onclick: actions.add.run }), this.#save);
    byId("tools").append(
      icon("copy", actions.command), icon("still", actions.still),
      icon("panel", actions.panel, { id: "panel-button", "aria-expanded": "false", "aria-controls": "panel" }),
      button({ text: "?", label: actions.help.title, class: "icon-button", onclick: actions.help.run, "aria-label": actions.help.title }));
  }

  /** The frame whose number was typed; the first frame if the input is not a number. */
  #typed() {
    const { value } = this.#frame;
    return value === "" || Number.isNaN(Number(value)) ? 1 : Number(value) + 1 - numberOf(1, this.#playback.clock);
  }

  #follow() {
    for (const [path, text, title] of PATHS) {
      const radio = element("input", { type: "radio", name: "follow", onchange: () => this.#playback.followPath(path) });
      this.#radios.set(path, radio);
      byId("follow").append(element("label", { title }, radio, element("span", {}, text)));
    }
  }

  #show() {
    const { playing, loop, frame, seconds, follow } = this.#playback;
    setIcon(this.#play, playing ? "pause" : "play");
    this.#play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.#loop.setAttribute("aria-pressed", loop);
    const { clock } = this.#playback;
    const last = numberOf(clock.frames, clock);
    [this.#frame.min, this.#frame.max] = [numberOf(1, clock), last];
    if (this.#frame !== document.activeElement || playing) this.#frame.value = numberOf(frame, clock);
    this.#time.textContent = `/ ${last} · ${inSeconds(seconds)}`;
    this.#radios.get(follow).checked = true;
    this.#radios.get("waypoints").disabled = this.#waypoints.keys.length < 2;
    this.#save.classList.toggle("wanted", this.#waypoints.changed);
  }
}
