// Runs the action of a key, wherever in the page it is pressed, unless it is text.

import { byId, isTyping } from "./dom.js";

export class Keyboard {
  #byCode = new Map();
  #actions;

  constructor(actions) {
    this.#actions = actions;
    for (const action of Object.values(actions)) {
      for (const code of action.codes ?? []) this.#byCode.set(code, action);
    }
    addEventListener("keydown", (event) => this.#press(event));
    // After the mouse pressed a button, keys are for the picture again.
    addEventListener("click", ({ detail, target }) => detail > 0 && target.closest(".strip button") && byId("view").focus());
  }

  #press(event) {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    const saves = (event.ctrlKey || event.metaKey) && event.code === "KeyS";
    if (!saves && (isTyping(event.target) || usesKey(event))) return;
    // By its sign, since it is elsewhere on each keyboard.
    const action = event.key === "?" ? this.#actions.help : this.#byCode.get(nameOf(event));
    if (!action) return;
    event.preventDefault();
    action.run();
  }
}

function nameOf(event) {
  const modifiers = [event.ctrlKey || event.metaKey ? "Ctrl+" : "", event.altKey ? "Alt+" : "", event.shiftKey ? "Shift+" : ""];
  return modifiers.join("") + event.code;
}

/** Whether the key means something to the control that has the focus. */
function usesKey({ code, target }) {
  if (code === "Space" || code === "Enter") return target.matches("button, summary, input, a");
  return code.startsWith("Arrow") && target.matches("input");
}
