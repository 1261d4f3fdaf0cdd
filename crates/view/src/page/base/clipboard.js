// Copies text to the clipboard.

import { element } from "./dom.js";

export class Clipboard {
  #app;

  constructor(app) {
    this.#app = app;
    app.on("copy", ({ text, what }) => this.#copy(text, what));
    app.on("command", ({ text }) => this.#copy(text, "Command"));
  }

  async #copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyByHand(text);
    }
    this.#app.say(`${what} copied: ${text}`);
  }
}

/** Fallback for insecure contexts, such as a host other than localhost, where the clipboard API is unavailable. */
function copyByHand(text) {
  const area = element("textarea", { value: text, class: "offscreen" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
