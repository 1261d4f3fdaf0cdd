// Saves changes, and shows a dialog if the file has changed on disk in the meantime.
//
// Emits "kept" with "camera" or "values" when they have been written to the file.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

const CHOICES = { anyway: "Save anyway", reload: "Load the file again" };

export class Saving {
  #app;
  #waypoints;
  #values;
  #dialog = byId("refused");
  /** Save requests without an answer yet. Answers arrive in the same order. */
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

  /** Saves changed values. Saves the flight if it has changed, or if nothing else has. */
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
