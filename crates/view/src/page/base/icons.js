// Buttons with icons. The icons are symbols in index.html.

import { element } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Replaces the icon of a button. */
export function setIcon(button, name) {
  button.querySelector("use").setAttribute("href", `#icon-${name}`);
}

/** Creates a button with an icon, text or both. `label` is the accessible name of a button without text. */
export function button({ name, text, label, key, onclick, ...more }) {
  const title = [label ?? text, key && `(${key})`].filter(Boolean).join(" ");
  return element("button", { type: "button", title, "aria-label": text ? null : label, onclick, ...more },
    name ? icon(name) : null, text ? element("span", {}, text) : null);
}
