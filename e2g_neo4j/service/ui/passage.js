// The panel beside the answer: its tabs, and the text of a document at a passage.

import { documentAddress, viewAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { byId, make, number, span } from "./dom.js";
import { sentenceAt } from "./excerpt.js";
import { show } from "./problems.js";

const CONTEXT = 700; // characters shown before and after a passage
const STEP = 3000; // characters that a button adds
const MARKED = 8000; // characters of a passage that are shown at once

let opener = null;
let shown = 0;

/** Show the text of a document at a place, in an element of its own. */
export async function showPlace(container, { corpus, name: document, params }) {
  const at = Math.max(0, Number.parseInt(params.get("at"), 10)) || 0;
  container.replaceChildren(make("p", { class: "note" }, "Loading …"));
  try {
    const text = await read(corpus, document, Math.max(0, at - CONTEXT), at + STEP);
    const here = sentenceAt(text.text, inUnits(text.text, at - text.start)) ?? { start: text.text.length, end: text.text.length };
    const [start, end] = [here.start, here.end].map((place) => text.start + inCharacters(text.text, place));
    render(container, { corpus, document_id: document }, text, { start, end, sentence: (whole) => ({ start: 0, end: whole.length }) });
  } catch (problem) {
    container.replaceChildren();
    if (problem.status !== 404) return show(problem);
    const list = make("a", { href: viewAddress("documents", { corpus }) }, `See the documents of ${corpus}.`);
    container.append(make("p", {}, "This document is not there, or not any more. ", list));
  }
}

export function setUpPanel() {
  const tabs = [...byId("panel").querySelectorAll("[role=tab]")];
  for (const tab of tabs) {
    tab.addEventListener("click", () => showTab(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const place = tabs.indexOf(tab);
      const next = { ArrowRight: place + 1, ArrowLeft: place - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const chosen = tabs[next % tabs.length];
      showTab(chosen.id.slice(4));
      chosen.focus();
    });
  }
  byId("panel").addEventListener("keydown", (event) => {
    if (event.key === "Escape") goBack();
  });
  closePassage();
}

export function showTab(name) {
  for (const tab of byId("panel").querySelectorAll("[role=tab]")) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

/** Close the passage that is open. */
export function closePassage() {
  opener = null;
  shown += 1;
  byId("panel-text").replaceChildren(
    make("p", { class: "empty" }, "Open a citation or a passage to read it at its place in the document."),
  );
}

/** Open a passage at its place in the text of its document. Escape returns to the element that opened it. */
export async function openPassage(passage, from) {
  opener = from;
  shown += 1;
  const mine = shown;
  const { corpus, document_id: document, excerpt } = passage;
  const start = Math.max(passage.start, (excerpt?.start ?? 0) - MARKED / 2);
  const end = Math.max(passage.end, start);
  const first = Math.max(0, start - CONTEXT);
  const last = Math.min(end, start + MARKED);
  try {
    const text = await read(corpus, document, first, last === end ? end + CONTEXT : last);
    if (mine !== shown) return;
    showTab("text");
    const place = (within, offset) => inUnits(within, Math.max(0, offset - start));
    const best = (within) => excerpt && { start: place(within, excerpt.start), end: place(within, excerpt.end) };
    render(byId("panel-text"), passage, text, { start, end, sentence: passage.level ? () => null : best });
  } catch (problem) {
    show(problem);
  }
}

function goBack() {
  if (!opener?.isConnected) return;
  opener.focus();
  opener.scrollIntoView({ block: "nearest" });
}

const read = (corpus, document, start, end) =>
  call("GET", inCorpus(corpus, "documents", document, "text"), { query: { start, end } });

// offsets count characters, places in a string UTF-16 units
const inUnits = (text, offset) => Array.from(text).slice(0, Math.max(0, offset)).join("").length;
const inCharacters = (text, place) => Array.from(text.slice(0, place)).length;

/** Show a part of a text. Its best sentence is marked strongly, the rest of the passage from `start` to `end` lightly. */
function render(container, passage, text, { start, end, sentence }) {
  const characters = Array.from(text.text);
  const cut = (from, to) => characters.slice(Math.max(0, from - text.start), Math.max(0, to - text.start)).join("");
  const before = make("span", {}, cut(text.start, start));
  const within = cut(start, Math.min(end, text.end));
  const best = sentence(within);
  const strong = best ? make("strong", {}, within.slice(best.start, best.end)) : null;
  const mark = make("mark", { tabindex: "-1" }, ...(best ? [within.slice(0, best.start), strong, within.slice(best.end)] : [within]));
  const after = make("span", {}, cut(end, text.end));
  const place = { first: text.start, last: text.end, end, length: text.characters };
  const region = make("div", { class: "text", role: "region", tabindex: "0", "aria-label": `Text of ${text.title}` });
  const earlier = make("button", { type: "button" }, "Show more before");
  const later = make("button", { type: "button" }, "Show more after");
  const edges = () => {
    for (const [button, is] of [[earlier, place.first <= 0], [later, place.last >= place.length]]) {
      if (is && button === button.ownerDocument.activeElement) region.focus();
      button.hidden = is;
    }
  };
  earlier.onclick = () => extend(async () => {
    const more = await read(passage.corpus, passage.document_id, Math.max(0, place.first - STEP), place.first);
    const height = region.scrollHeight;
    before.prepend(more.text);
    region.scrollTop += region.scrollHeight - height;
    place.first = more.start;
    edges();
  });
  later.onclick = () => extend(async () => {
    const inside = place.last < place.end; // the rest of a long passage comes first
    const until = inside ? Math.min(place.end, place.last + STEP) : place.last + STEP;
    const more = await read(passage.corpus, passage.document_id, place.last, until);
    (inside ? mark : after).append(more.text);
    place.last = more.end;
    edges();
  });
  region.append(earlier, make("div", { class: "prose" }, before, mark, after), later);
  edges();

  const where = [
    passage.heading === passage.document ? "" : passage.heading,
    passage.page ? `page ${passage.page}` : "",
    `${span(start, end)} of ${number(text.characters)}`,
    passage.corpus,
  ];
  const inPanel = container === byId("panel-text");
  const back = make("button", { type: "button", onclick: goBack }, "Back", make("span", { class: "note" }, " Esc"));
  const link = make("a", { href: documentAddress(passage.corpus, passage.document_id, passage.excerpt?.start ?? start) }, "Link to this place");
  container.replaceChildren(
    make("div", { class: "title" }, make("h3", {}, text.title), inPanel ? back : null),
    make("p", { class: "note" }, where.filter(Boolean).join(" · "), ...(inPanel ? [" · ", link] : [])),
    ...(passage.level ? summary(passage) : []),
    region,
  );
  const top = ((strong ?? mark).getClientRects()[0] ?? region.getBoundingClientRect()).top;
  region.scrollTop += top - region.getBoundingClientRect().top - 80;
  region.scrollIntoView({ block: "nearest" });
  mark.focus({ preventScroll: true });
}

async function extend(step) {
  try {
    await step();
  } catch (problem) {
    show(problem);
  }
}

const summary = (passage) => [
  make("blockquote", { class: "prose" }, passage.text),
  make("p", { class: "note" }, `This is a summary, level ${passage.level}. The text that it covers is marked:`),
];
