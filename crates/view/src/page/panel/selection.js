// Panel section of the selected instance, with its transform if it can be moved.

import { debounced, element, exact, short } from "./dom.js";
import { button } from "./icons.js";
import { row } from "./panel.js";
import { sub } from "./vectors.js";

export class Selection {
  #app;
  #pointer;
  #section;
  #body;
  #thing = null;
  #inputs = new Map();
  #place = debounced(30, (message) => this.#app.send(message));

  constructor(app, panel, pointer) {
    this.#app = app;
    this.#pointer = pointer;
    const { section, body } = panel.section("Selected", { hidden: true });
    this.#section = section;
    this.#body = body;
    app.on("selected", (thing) => this.#show(thing));
    app.on("placing", (change) => this.#drag(change));
  }

  #show(thing) {
    this.#thing = thing;
    this.#section.hidden = !thing;
    this.#inputs.clear();
    if (!thing) return;
    const facts = [["Mesh", thing.mesh], ["Material", thing.material], ["Distance", short(thing.distance)]];
    this.#body.replaceChildren(
      element("strong", { class: "name" }, thing.instance),
      element("dl", {}, ...facts.filter(([, text]) => text).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
      element("div", { class: "actions" },
        button({ text: "Frame", key: "F", onclick: () => this.#pointer.frame(thing) }),
        button({ text: "Focus", key: "G", onclick: () => this.#pointer.focusOn(thing.point) })),
      ...this.#transform(thing),
    );
  }

  #transform({ movable, transform, fixed }) {
    if (!movable || !transform) return [element("p", { class: "hint" }, fixed ? `Not to be moved: ${fixed}.` : "")];
    return ["translate", "rotate", "scale"].filter((name) => name in transform).map((name) => {
      const numbers = [transform[name]].flat();
      const inputs = numbers.map((x, i) => {
        const input = element("input", { type: "number", step: "any", value: exact(x), "aria-label": `${name} ${"xyz"[i]}` });
        input.addEventListener("input", () => input.validity.valid && input.value !== "" && this.#typed(name));
        return input;
      });
      this.#inputs.set(name, inputs);
      return row(name[0].toUpperCase() + name.slice(1), element("span", { class: "triple" }, ...inputs)).row;
    });
  }

  #typed(name) {
    const numbers = this.#inputs.get(name).map((input) => Number(input.value));
    this.#move({ [name]: numbers.length === 1 ? numbers[0] : numbers });
  }

  #drag(change) {
    this.#move(change);
    for (const [name, numbers] of Object.entries(change)) {
      this.#inputs.get(name)?.forEach((input, i) => (input.value = exact(numbers[i])));
    }
  }

  #move(change) {
    const transform = { ...this.#thing.transform, ...change };
    const by = sub(transform.translate, this.#thing.transform.translate);
    this.#thing.transform = transform;
    this.#place({ do: "place", instance: this.#thing.instance, ...transform });
    this.#app.emit("placed", { instance: this.#thing.instance, by });
  }
}
