// Helpers for elements, events and number formats.

export const byId = (id) => document.getElementById(id);

/** Creates an element with properties (including `class`, `aria-…` and listeners) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a function that calls `action` when it was not called again for `milliseconds`. */
export function debounced(milliseconds, action) {
  let timer;
  return (...what) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...what), milliseconds);
  };
}

/** Whether the target takes typed text. */
export const isTyping = (target) => target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");

/** Formats a number for display: four significant digits, without trailing zeros. */
export const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "");

/** Formats a number for an input field, with the precision of a 32-bit float. */
export const exact = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(7))) : "");
