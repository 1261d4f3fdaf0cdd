// Buttons with icons, which are symbols of the page.

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

/** Exchanges the icon of a button. */
export function setIcon(button, name) {
  button.querySelector("use").setAttribute("href", `#icon-${name}`);
}

/** A button with an icon, with text, or both. `label` is what it is called where there is no text. */
export function button({ name, text, label, key, onclick, ...more }) {
  const title = [label ?? text, key && `(${key})`].filter(Boolean).join(" ");
  return element("button", { type: "button", title, "aria-label": text ? null : label, onclick, ...more },
    name ? icon(name) : null, text ? element("span", {}, text) : null);
}
