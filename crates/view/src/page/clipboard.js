// Copies text that other parts or the server give.

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

/** Outside of secure contexts, as under a name that is not localhost, there is only this way. */
function copyByHand(text) {
  const area = element("textarea", { value: text, class: "offscreen" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
