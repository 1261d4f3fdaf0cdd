// Runs the action of a pressed key anywhere in the page, except while text is typed.

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
    // After a click on a button, key presses go to the picture again.
    addEventListener("click", ({ detail, target }) => detail > 0 && target.closest(".strip button") && byId("view").focus());
  }

  #press(event) {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    const saves = (event.ctrlKey || event.metaKey) && event.code === "KeyS";
    if (!saves && (isTyping(event.target) || usesKey(event))) return;
    // `?` is matched by character, because its position depends on the keyboard layout.
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

/** Whether the focused control uses the key itself. */
function usesKey({ code, target }) {
  if (code === "Space" || code === "Enter") return target.matches("button, summary, input, a");
  return code.startsWith("Arrow") && target.matches("input");
}
