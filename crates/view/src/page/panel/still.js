// The dialog that renders the current view as a still and downloads it.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

export class Still {
  #app;
  #dialog = byId("still");
  #fields = {};
  #progress;
  #make;
  #ask = 0;

  constructor(app) {
    this.#app = app;
    this.#build();
    app.on("still", (still) => still.ask === this.#ask && this.#hear(still));
    app.on("error", () => this.#idle());
    app.on("closed", () => this.#idle());
  }

  show() {
    const [width, height] = this.#app.scene?.size ?? [1280, 720];
    this.#fields.width.value ||= width;
    this.#fields.height.value ||= height;
    this.#fields.samples.value ||= this.#app.scene?.samples ?? 64;
    this.#dialog.showModal();
  }

  #build() {
    const number = (most) => element("input", { type: "number", min: 1, max: most, step: 1, required: true });
    this.#fields = {
      width: number(65536),
      height: number(65536),
      samples: number(1e6),
      format: element("select", {}, new Option("PNG", "png"), new Option("OpenEXR", "exr")),
    };
    const labelled = (text, name) => element("label", {}, element("span", {}, text), this.#fields[name]);
    this.#progress = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
    this.#make = button({ text: "Download", class: "primary", type: "submit" });
    const form = element("form", { method: "dialog" },
      element("h2", {}, "Still"),
      element("div", { class: "grid" }, labelled("Width", "width"), labelled("Height", "height"), labelled("Samples", "samples"), labelled("Format", "format")),
      this.#progress,
      element("div", { class: "actions" }, this.#make, button({ text: "Close", onclick: () => this.#dialog.close() })));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#begin();
    });
    this.#fields.width.addEventListener("input", () => (this.#fields.height.value = Math.max(1, Math.round(this.#fields.width.value / this.#app.aspect))));
    this.#dialog.append(form);
  }

  #begin() {
    const { width, height, samples, format } = this.#fields;
    this.#ask += 1;
    this.#make.disabled = true;
    Object.assign(this.#progress, { hidden: false, value: 0 });
    const size = [Number(width.value), Number(height.value)];
    this.#app.send({ do: "still", size, samples: Number(samples.value), format: format.value, ask: this.#ask });
  }

  #hear({ share, link }) {
    if (share !== undefined) this.#progress.value = share;
    if (!link) return;
    this.#idle();
    element("a", { href: link, download: `${this.#app.scene?.name ?? "still"}${link.slice(link.lastIndexOf("."))}` }).click();
    this.#dialog.close();
    this.#app.say("The still is downloaded");
  }

  #idle() {
    this.#progress.hidden = true;
    this.#make.disabled = false;
  }
}
