// Short ways to elements.

export const byId = (id) => document.getElementById(id);

/** An element with properties, `class`, `aria-…` and listeners among them, and children. */
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

/** Calls `action` once things have been quiet for `milliseconds`. */
export function debounced(milliseconds, action) {
  let timer;
  return (...what) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...what), milliseconds);
  };
}

/** Whether keys that are typed there are text. */
export const isTyping = (target) => target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");

/** A number for people: four digits, and no zeros after them. */
export const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "");

/** A number for a field: as exact as a 32-bit float. */
export const exact = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(7))) : "");
