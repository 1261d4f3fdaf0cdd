// Saves what was changed, and asks where the file has changed meanwhile.
//
// Emits "kept" with "camera" or "values" once these are in the file.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

const CHOICES = { anyway: "Save anyway", reload: "Load the file again" };

export class Saving {
  #app;
  #waypoints;
  #values;
  #dialog = byId("refused");
  /** What was asked to be saved and is not answered yet; answers come in this order. */
  #asked = [];

  constructor(app, { waypoints, values }) {
    this.#app = app;
    this.#waypoints = waypoints;
    this.#values = values;
    app.on("save-values", () => this.#send("values"));
    app.on("saved", () => app.emit("kept", this.#asked.shift()));
    app.on("refused", (refusal) => this.#ask(this.#asked.shift(), refusal));
    app.on("closed", () => (this.#asked = []));
  }

  /** Saves values if they were changed, and the flight if it was, or if nothing else was. */
  save() {
    const values = this.#values.changed;
    if (values) this.#send("values");
    if (this.#waypoints.changed || !values) this.#send("camera");
  }

  #send(what, anyway = false) {
    this.#asked.push(what);
    const values = what === "values" ? { values: this.#values.texts } : {};
    this.#app.send({ do: "save", what, ...values, ...(anyway && { anyway }) });
  }

  #ask(what, { why, choices = [] }) {
    const choose = (choice) => {
      this.#dialog.close();
      if (choice === "anyway") this.#send(what, true);
      else this.#reload();
    };
    this.#dialog.replaceChildren(
      element("h2", {}, "Not saved"),
      element("p", {}, why),
      element("div", { class: "actions" },
        ...choices.map((choice) => button({ text: CHOICES[choice] ?? choice, class: choice === "anyway" ? "danger" : "", onclick: () => choose(choice) })),
        button({ text: "Cancel", autofocus: true, onclick: () => this.#dialog.close() })));
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  #reload() {
    this.#values.discard();
    this.#app.send({ do: "reload" });
  }
}
