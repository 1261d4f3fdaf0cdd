// Panel section for several pages: shares this page's camera, or follows the page that shares its own.

import { element } from "./dom.js";

export class Sharing {
  constructor(app, panel) {
    const { body } = panel.section("Others", { open: false });
    const box = (text, title, name, other) => {
      const input = element("input", { type: "checkbox" });
      input.addEventListener("change", () => {
        if (input.checked) other()?.turn(false);
        if (input.checked && name === "watch") app.emit("steered-by-another");
        app.watching = this.watch.input.checked;
        app.send({ do: name, on: input.checked });
      });
      body.append(element("label", { class: "check", title }, input, element("span", {}, text)));
      const turn = (on) => {
        if (input.checked === on) return;
        input.checked = on;
        input.dispatchEvent(new Event("change"));
      };
      return { input, name, turn };
    };
    this.present = box("Present", "Other pages may follow this page's camera", "present", () => this.watch);
    this.watch = box("Watch", "This page follows the page that presents", "watch", () => this.present);
    app.on("steered", () => this.watch.turn(false));
    app.on("scene", () => {
      for (const { input, name } of [this.present, this.watch]) if (input.checked) app.send({ do: name, on: true });
    });
  }
}
