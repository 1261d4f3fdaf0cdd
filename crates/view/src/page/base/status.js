// Status texts: the state line, persistent errors, and messages that disappear.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

const TOAST = 2600;
const WINDOW = 2000;

export class Status {
  #app;
  #line = byId("state");
  #banner = byId("banner");
  #toast = byId("toast");
  #drawn = [];
  #lags = [];
  #state = {};
  #timer;
  #warnings = "";

  constructor(app) {
    this.#app = app;
    app.on("scene", (scene) => this.#meet(scene));
    app.on("state", (state) => (this.#state = state));
    app.on("drawn", (picture) => this.#count(picture));
    app.on("lag", (lag) => (this.#lags = [...this.#lags.slice(-14), { lag, at: performance.now() }]));
    app.on("error", (error) => this.#fail(error));
    app.on("closed", () => this.#show("The server is gone; trying again … If it was started anew, open its new link.", "gone"));
    app.on("opened", () => this.#banner.classList.contains("gone") && this.#clear());
    app.on("said", (text) => this.#say(text));
    app.on("saved", ({ file }) => this.#say(`Saved to ${file}`));
    setInterval(() => this.#tell(), 300);
  }

  #meet({ name, device, instances, warnings = [] }) {
    document.title = `${name} · throng`;
    byId("name").textContent = name;
    byId("about").textContent = [`${instances.toLocaleString("en")} instance${instances === 1 ? "" : "s"}`, device].filter(Boolean).join(" · ");
    this.#clear();
    const text = warnings.join("\n");
    if (text && text !== this.#warnings) this.#show(text, "warning");
    this.#warnings = text;
  }

  #count(picture) {
    const now = performance.now();
    this.#drawn = [...this.#drawn.filter((time) => now - time < WINDOW), now];
    this.#state = { ...this.#state, samples: picture.samples, finished: picture.finished };
  }

  #tell() {
    const { samples, of, finished, denoised } = this.#state;
    const now = performance.now();
    const rate = this.#drawn.filter((time) => now - time < WINDOW).length / (WINDOW / 1000);
    this.#lags = this.#lags.filter(({ at }) => now - at < 2 * WINDOW);
    const lag = this.#lags.map(({ lag }) => lag).sort((a, b) => a - b)[this.#lags.length >> 1];
    const parts = [
      samples === undefined ? null : `${samples}${of ? ` of ${of}` : ""} samples`,
      finished ? (denoised ? "finished, denoised" : "finished") : rate >= 1 ? `${Math.round(rate)} ${rate < 1.5 ? "picture" : "pictures"}/s` : null,
      lag === undefined ? null : `${Math.round(lag)} ms`,
    ];
    const text = this.#app.connection?.open ? parts.filter(Boolean).join(" · ") : "not connected";
    if (this.#line.textContent !== text) this.#line.textContent = text;
    this.#line.style.setProperty("--share", of ? Math.min(1, samples / of) : 0);
    document.body.classList.toggle("finished", finished === true);
  }

  #fail({ message, lasting }) {
    if (lasting) this.#show(message, "error");
    else this.#say(message);
  }

  #show(text, kind) {
    this.#banner.className = `banner ${kind}`;
    this.#banner.replaceChildren(element("pre", {}, text), button({ name: "close", label: "Hide", class: "icon-button", onclick: () => this.#clear() }));
    this.#banner.hidden = false;
  }

  #clear() {
    this.#banner.hidden = true;
    this.#banner.replaceChildren();
  }

  #say(text) {
    clearTimeout(this.#timer);
    this.#toast.textContent = text;
    this.#toast.classList.add("shown");
    this.#timer = setTimeout(() => this.#toast.classList.remove("shown"), TOAST + 40 * text.length);
  }
}
