// The overlay that lists all keys.

import { byId, element } from "./dom.js";
import { button } from "./icons.js";

export class Help {
  #dialog = byId("help");

  fill(actions) {
    const groups = Map.groupBy(Object.values(actions).filter((action) => action.title), ({ group }) => group);
    this.#dialog.append(
      element("header", {}, element("h2", {}, "Keys and mouse"), button({ name: "close", label: "Close", class: "icon-button", onclick: () => this.#dialog.close() })),
      element("div", { class: "groups" }, ...[...groups].map(([title, group]) => section(title, group))));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.#dialog.addEventListener("keydown", (event) => {
      if (event.key !== "?") return;
      event.preventDefault();
      event.stopPropagation();
      this.#dialog.close();
    });
  }

  toggle() {
    if (this.#dialog.open) this.#dialog.close();
    else this.#dialog.showModal();
  }
}

function section(title, actions) {
  const rows = actions.map((action) =>
    element("div", {}, element("dt", {}, ...action.keys.map((key) => element("kbd", {}, key))), element("dd", {}, action.title)));
  return element("section", {}, element("h3", {}, title), element("dl", {}, ...rows));
}
