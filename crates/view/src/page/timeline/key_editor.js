// Input fields for the selected waypoint, in a card above the timeline.

import { byId, element, exact } from "./dom.js";
import { button } from "./icons.js";

const FIELDS = [
  { name: "time", label: "Time", unit: "s", least: 0, needed: true },
  { name: "fov", label: "Field of view", unit: "°", least: 0.1, most: 179 },
  { name: "focus", label: "Focus", unit: "", least: 0.0001 },
  { name: "radius", label: "Aperture", unit: "", least: 0 },
  { name: "f_stop", label: "f-stop", unit: "", least: 0.001 },
];

export class KeyEditor {
  #waypoints;
  #card = byId("key-editor");
  #inputs = new Map();
  #title;

  constructor(app, waypoints) {
    app.on("scene", ({ lens }) => this.#fit(lens));
    this.#waypoints = waypoints;
    this.#build();
    app.on("waypoints", () => this.#show());
    this.#card.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.#waypoints.choose(null);
    });
  }

  #build() {
    this.#title = element("strong");
    this.#card.append(
      this.#title,
      ...FIELDS.map((field) => this.#field(field)),
      element("span", { class: "buttons" },
        button({ text: "Replace", key: "Shift+K", label: "Replace by the camera as it is", onclick: () => this.#waypoints.replace() }),
        button({ text: "Delete", key: "Delete", onclick: () => this.#waypoints.remove() }),
        button({ name: "close", label: "Close", onclick: () => this.#waypoints.choose(null) })),
    );
  }

  #field({ name, label, unit, least, most, needed }) {
    const input = element("input", { type: "number", step: "any", min: least, max: most, placeholder: needed ? "" : "auto" });
    input.addEventListener("change", () => {
      if (!input.validity.valid || (needed && input.value === "")) return this.#show(true);
      this.#waypoints.update(this.#waypoints.chosen, { [name]: input.value === "" ? undefined : Number(input.value) });
    });
    this.#inputs.set(name, input);
    return element("label", {}, element("span", {}, label), input, element("em", {}, unit));
  }

  /** Shows the field that suits the lens: either radius or f-number. */
  #fit(lens) {
    const radius = lens === "thin";
    this.#inputs.get("radius").parentElement.hidden = !radius;
    this.#inputs.get("f_stop").parentElement.hidden = radius;
  }

  #show(anew = false) {
    const key = this.#waypoints.chosenKey;
    this.#card.hidden = !key;
    if (!key) return;
    this.#title.textContent = `Waypoint ${this.#waypoints.keys.indexOf(key) + 1}`;
    for (const [name, input] of this.#inputs) {
      if (anew === true || input !== document.activeElement) input.value = exact(key[name]);
    }
  }
}
