// Markdown of answers as elements: headings, paragraphs, lists, quotations, code and emphasis. Everything else stays the
// text that it is, and so does HTML: text is only ever put in as text.

import { make } from "./dom.js";

const FENCE = /^\s*(```+|~~~+)/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/s;
const HEADING = /^#{1,6}\s+(.*)$/s;
const QUOTATION = /^\s*>\s?/;
const MARK = /`+|\*\*(?=\S)|\*(?=[^\s*])|(?<![\p{L}\p{N}_])__(?=\S)|(?<![\p{L}\p{N}_])_(?=[^\s_])/gu; // begins code or emphasis
const CLOSING = {
  "**": /(?<=\S)\*\*/g,
  "*": /(?<=[^\s*])\*/g,
  __: /(?<=\S)__(?![\p{L}\p{N}_])/gu,
  _: /(?<=[^\s_])_(?![\p{L}\p{N}_])/gu,
};
const DEEPEST = 8; // levels of lists, quotations and emphasis; deeper ones are shown as text

/** Return the elements of a text. `plain` makes the nodes of text without emphasis, such as citations. */
export function renderMarkdown(text, plain) {
  return blocks(text.replaceAll("\r", "").split("\n"), plain, 0);
}

function blocks(lines, plain, depth) {
  const found = [];
  let at = 0;
  const inline = (part) => emphasised(part, plain, 0);
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) {
      at += 1;
    } else if (FENCE.test(line)) {
      const fence = FENCE.exec(line)[1];
      const last = endOf(lines, at + 1, (one) => !one.trim().startsWith(fence));
      found.push(make("pre", { tabindex: "0" }, make("code", {}, lines.slice(at + 1, last).join("\n"))));
      at = last + 1;
    } else if (HEADING.test(line)) {
      found.push(make("p", { class: "heading" }, ...inline(HEADING.exec(line)[1].split(/(?:^| )#+$/)[0].trim())));
      at += 1;
    } else if (QUOTATION.test(line) && depth < DEEPEST) {
      const last = endOf(lines, at, (one) => QUOTATION.test(one));
      found.push(make("blockquote", {}, ...blocks(lines.slice(at, last).map((one) => one.replace(QUOTATION, "")), plain, depth + 1)));
      at = last;
    } else if (ITEM.test(line) && depth < DEEPEST) {
      const last = endOf(lines, at, (one, place) => ITEM.test(one) || /^\s+\S/.test(one) || (!one.trim() && ITEM.test(lines[place + 1] ?? "")));
      found.push(list(lines.slice(at, last), plain, depth));
      at = last;
    } else {
      const last = Math.max(at + 1, endOf(lines, at, (one) => one.trim() && ![FENCE, ITEM, HEADING, QUOTATION].some((kind) => kind.test(one))));
      found.push(make("p", {}, ...inline(lines.slice(at, last).join("\n"))));
      at = last;
    }
  }
  return found;
}

function endOf(lines, from, belongs) {
  let at = from;
  while (at < lines.length && belongs(lines[at], at)) at += 1;
  return at;
}

/** Make a list. Lines that are indented more than the first item belong to the item before them. */
function list(lines, plain, depth) {
  const [, indent, bullet] = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= indent.length + 1) items.push([item[3]]);
    else items.at(-1).push(line.slice(Math.min(indent.length + 2, line.length - line.trimStart().length)));
  }
  const numbered = /\d/.test(bullet);
  return make(
    numbered ? "ol" : "ul",
    numbered ? { start: parseInt(bullet, 10) } : {},
    ...items.map((item) => make("li", {}, ...unwrapped(blocks(item, plain, depth + 1)))),
  );
}

/** The text of an item that is a single paragraph needs no paragraph of its own. */
const unwrapped = ([first, ...rest]) => (first?.tagName === "P" && !first.className ? [...first.childNodes, ...rest] : [first, ...rest].filter(Boolean));

/** Make emphasis and code. What was not closed once is not looked for again, so that time grows with the length only. */
function emphasised(text, plain, depth) {
  const found = [];
  const unclosed = new Set();
  const lastRuns = new Map([...text.matchAll(/`+/g)].map((run) => [run[0], run.index]));
  let shown = 0;
  for (let at = 0, match; depth < DEEPEST && (match = after(at, MARK, text)); ) {
    const { 0: mark, index } = match;
    const code = mark[0] === "`";
    at = index + mark.length;
    const open = code ? index < lastRuns.get(mark) : !unclosed.has(mark);
    const end = open && after(at + 1, code ? new RegExp(`(?<!\`)${mark}(?!\`)`, "g") : CLOSING[mark], text);
    if (end) {
      const inner = text.slice(at, end.index);
      const made = code ? make("code", {}, inner) : make(mark.length > 1 ? "strong" : "em", {}, ...emphasised(inner, plain, depth + 1));
      found.push(...plain(text.slice(shown, index)), made);
      shown = at = end.index + mark.length;
    } else if (unclosed.add(mark) && mark === "**") at -= 1;
  }
  return [...found, ...plain(text.slice(shown))];
}

function after(from, expression, text) {
  expression.lastIndex = from;
  return expression.exec(text);
}
