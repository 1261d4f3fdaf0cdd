// The side panel: collapsible sections, and whether the panel is shown.

import { byId, element } from "./dom.js";

const NARROW = matchMedia("(max-width: 720px)");

export class Panel {
  #app;
  #panel = byId("panel");

  constructor(app) {
    this.#app = app;
    this.show(sessionStorage.getItem("panel") === "open" && !NARROW.matches);
    this.#panel.addEventListener("keydown", (event) => event.key === "Escape" && this.show(false));
  }

  get shown() {
    return !this.#panel.hidden;
  }

  show(shown) {
    this.#panel.hidden = !shown;
    document.body.classList.toggle("with-panel", shown);
    sessionStorage.setItem("panel", shown ? "open" : "closed");
    this.#app.emit("panel", shown);
  }

  toggle() {
    this.show(!this.shown);
    (this.shown ? this.#panel.querySelector("summary") : byId("view"))?.focus();
  }

  /** Adds a section, to which other parts add their fields. */
  section(title, { open = true, hidden = false } = {}) {
    const body = element("div", { class: "fields" });
    const section = element("details", { open, hidden }, element("summary", {}, title), body);
    this.#panel.append(section);
    return { section, body };
  }
}

/** A labelled row with a button that undoes the change. */
export function row(label, control, { undo, doc } = {}) {
  const id = control.id || (control.id = `field-${label.replaceAll(/\W+/g, "-")}-${row.count++}`);
  const back = element("button", { type: "button", class: "undo", title: "As the scene has it", "aria-label": `${label} as the scene has it`, onclick: undo }, "×");
  back.hidden = true;
  const made = element("div", { class: "row", title: doc }, element("label", { htmlFor: id }, label), control, undo ? back : null);
  return { row: made, mark: (changed) => ((back.hidden = !changed), made.classList.toggle("changed", changed)) };
}
row.count = 0;
