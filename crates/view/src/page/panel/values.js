// Panel section for the scene values that `--set` can change: edited live, copied as flags, or saved.

import { debounced, element } from "./dom.js";
import { button } from "./icons.js";
import { row } from "./panel.js";
import { setFlags } from "./shell.js";
import { colourOf, textOf } from "./colours.js";

export class Values {
  #app;
  #list;
  #section;
  #filter;
  #actions;
  #told;
  #values = [];
  /** Changed values: those that the server has, and later edits. */
  #changed = {};
  #rows = new Map();
  #apply = debounced(120, () => this.#send());
  /** Edits that have not been sent yet. */
  #pending = {};
  #placed = new Set();

  constructor(app, panel) {
    this.#app = app;
    const { section, body } = panel.section("Scene", { open: false });
    this.#section = section;
    this.#filter = element("input", { type: "search", placeholder: "Filter values", "aria-label": "Filter values" });
    this.#filter.addEventListener("input", () => this.#build());
    this.#list = element("div", { class: "values" });
    this.#told = element("span", { class: "count" });
    this.#actions = element("div", { class: "actions", hidden: true }, this.#told,
      button({ text: "Save", label: "Save values into the scene file", onclick: () => app.emit("save-values") }),
      button({ text: "Copy flags", label: "Copy as --set flags", onclick: () => this.#copy() }),
      button({ text: "Undo", label: "Undo all changes", onclick: () => this.#revert() }));
    body.append(this.#actions, this.#filter, this.#list);
    app.on("scene", () => app.send({ do: "values" }));
    app.on("values", ({ values }) => this.#take(values));
    app.on("placed", ({ instance }) => {
      this.#placed.add(instance);
      this.#section.open = true;
      this.#show();
    });
    app.on("kept", (part) => part === "values" && this.#saved());
  }

  get changed() {
    return this.#count() > 0;
  }

  /** The text of each changed value, by path. */
  get texts() {
    return this.#changed;
  }

  /** Discards the changes after the file was loaded again. */
  discard() {
    this.#saved();
  }

  /** The server tracks entries across edits of the file, so its list defines which values are changed. */
  #take(values) {
    const changed = values.filter(({ saved }) => saved !== undefined).map(({ path, text }) => [path, text]);
    this.#values = values.map(({ saved, ...value }) => ({ ...value, text: saved ?? value.text }));
    this.#changed = Object.fromEntries(changed);
    for (const [path, text] of Object.entries(this.#pending)) this.#note(path, text);
    this.#placed.clear();
    this.#section.hidden = values.length === 0;
    if (!this.#list.contains(document.activeElement)) this.#build();
    this.#show();
  }

  #send() {
    if (Object.keys(this.#pending).length > 0) this.#app.send({ do: "change", values: this.#pending });
    this.#pending = {};
  }

  #build() {
    const wanted = this.#filter.value.toLowerCase();
    const shown = this.#values.filter(({ path }) => path.toLowerCase().includes(wanted));
    const groups = new Map();
    for (const value of shown) {
      const group = groupOf(value.path);
      groups.set(group, [...(groups.get(group) ?? []), value]);
    }
    this.#rows.clear();
    this.#list.replaceChildren(...[...groups].map(([group, values]) => this.#group(group, values, wanted !== "" || groups.size <= 2)));
    this.#show();
  }

  #group(name, values, open) {
    const rows = values.map((value) => this.#row(value, value.path.slice(name.length + 1) || value.path));
    return element("details", { open: open || values.some(({ path }) => path in this.#changed) }, element("summary", {}, name), ...rows);
  }

  #row(value, label) {
    const { path, kind, choices = [], doc } = value;
    const text = this.#changed[path] ?? value.text;
    const input = kind === "choice"
      ? element("select", {}, ...[...new Set([text, ...choices])].map((choice) => new Option(choice, choice)))
      : element("input", { type: "text", spellcheck: false, inputMode: kind === "number" ? "decimal" : "text", autocomplete: "off" });
    input.value = text;
    input.setAttribute("aria-label", path);
    input.addEventListener("input", () => this.#change(path, input.value));
    if (kind === "number") input.addEventListener("keydown", (event) => nudge(event, input));
    const control = kind === "colour" ? withSwatch(input) : input;
    const made = row(label, control, { undo: () => this.#undo(path), doc: doc ?? path });
    this.#rows.set(path, { input, ...made });
    return made.row;
  }

  #original(path) {
    return this.#values.find((value) => value.path === path)?.text ?? "";
  }

  #note(path, text) {
    if (text === this.#original(path)) delete this.#changed[path];
    else this.#changed[path] = text;
  }

  #change(path, text) {
    this.#note(path, text);
    this.#pending[path] = text;
    this.#apply();
    this.#show();
  }

  #undo(path) {
    const { input } = this.#rows.get(path) ?? {};
    if (input) {
      input.value = this.#original(path);
      input.dispatchEvent(new Event("swatch"));
    }
    this.#change(path, this.#original(path));
  }

  #revert() {
    for (const path of Object.keys(this.#changed)) this.#undo(path);
  }

  #show() {
    const count = this.#count();
    this.#actions.hidden = count === 0;
    this.#told.textContent = `${count} changed`;
    for (const [path, { mark }] of this.#rows) mark(path in this.#changed);
    this.#app.emit("values-changed", count);
  }

  #copy() {
    this.#app.emit("copy", { text: setFlags(this.#changed), what: "Flags" });
  }

  /** Number of changed values and moved instances. */
  #count() {
    return Object.keys(this.#changed).length + this.#placed.size;
  }

  #saved() {
    this.#changed = {};
    this.#pending = {};
    this.#placed.clear();
    this.#build();
  }
}

/**
 * Group of a path: each entry of a list or map has its own, for example `materials.gold`; other sections have one, for example
 * `environment`.
 */
function groupOf(path) {
  const parts = path.split(".");
  const many = ["materials", "instances", "meshes", "motions", "lights", "models", "groups", "cameras"].includes(parts[0]);
  return parts.slice(0, many && parts.length > 2 ? 2 : 1).join(".");
}

/** Changes a number with the arrow keys, by one unit of its last digit. */
function nudge(event, input) {
  const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const number = Number(input.value);
  if (!by || !Number.isFinite(number) || input.value.trim() === "") return;
  event.preventDefault();
  const digits = (input.value.split(".")[1] ?? "").length;
  input.value = (number + (by * (event.shiftKey ? 10 : 1)) / 10 ** digits).toFixed(digits);
  input.dispatchEvent(new Event("input"));
}

function withSwatch(input) {
  const swatch = element("input", { type: "color", tabIndex: -1, "aria-hidden": "true" });
  const match = () => (swatch.value = colourOf(input.value) ?? "#000000");
  swatch.addEventListener("input", () => {
    input.value = textOf(swatch.value, input.value);
    input.dispatchEvent(new Event("input"));
  });
  input.addEventListener("input", match);
  input.addEventListener("swatch", match);
  match();
  return element("span", { class: "colour" }, swatch, input);
}
