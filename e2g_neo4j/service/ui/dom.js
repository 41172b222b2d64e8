// Small helpers for elements. Text is always put in as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** Make an element. Functions among the attributes are event handlers, such as `onclick`. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an element of SVG. */
export function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((one) => one != null));
  return element;
}

export const number = (value) => value.toLocaleString("en");

export const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Return where a span lies, such as "characters 1,452–2,303". */
export const span = (start, end) => `characters ${number(start)}–${number(end)}`;

export const shortened = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** Make the element of a time in milliseconds since 1970; a text if there is none, or one that no calendar has. */
export function makeTime(milliseconds) {
  const date = new Date(milliseconds ?? NaN);
  return Number.isNaN(date.valueOf()) ? "–" : make("time", { datetime: date.toISOString() }, date.toLocaleString());
}

/** Say something to screen readers only. */
export function announce(text) {
  byId("announce").textContent = text;
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
