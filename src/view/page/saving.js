// Saves what was changed, and asks where the file has changed meanwhile.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

const CHOICES = { anyway: "Save anyway", reload: "Load the file again" };

export class Saving {
  #app;
  #waypoints;
  #values;
  #dialog = byId("refused");

  constructor(app, { waypoints, values }) {
    this.#app = app;
    this.#waypoints = waypoints;
    this.#values = values;
    app.on("refused", (refusal) => this.#ask(refusal));
  }

  /** Saves values if they were changed, and the flight if it was, or if nothing else was. */
  save() {
    const values = this.#values.changed;
    if (values) this.#values.save();
    if (this.#waypoints.changed || !values) this.#waypoints.save();
  }

  #ask({ why, choices = [], what = "camera" }) {
    const choose = (choice) => () => {
      this.#dialog.close();
      if (choice === "anyway") (what === "values" ? this.#values : this.#waypoints).save(true);
      else this.#app.send({ do: "reload" });
    };
    this.#dialog.replaceChildren(
      element("h2", {}, "Not saved"),
      element("p", {}, why),
      element("div", { class: "actions" },
        ...choices.map((choice) => button({ text: CHOICES[choice] ?? choice, class: choice === "anyway" ? "danger" : "", onclick: choose(choice) })),
        button({ text: "Cancel", onclick: () => this.#dialog.close() })));
    if (!this.#dialog.open) this.#dialog.showModal();
  }
}
