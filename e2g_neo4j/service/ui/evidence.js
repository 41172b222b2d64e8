// Answers with their citations, and passages, as Ask and Compare show them.

import { documentAddress, entityAddress } from "./address.js";
import { make, span } from "./dom.js";
import { marked } from "./excerpt.js";
import { renderMarkdown } from "./markdown.js";

const RENDERED_EVERY = 150; // milliseconds between two renderings of an answer that is being written
const EXCERPT = 420; // characters of a passage without an excerpt
const CITED = /\[(\d+(?:, \d+)*)\]/;

/** Return the question that was searched for: earlier turns may have completed it. */
export const searchedAs = (evidence) => evidence.searched_as || evidence.question;

/** Return the place in a document that a reader is shown of a passage. */
export const shownPlace = (passage) => passage.excerpt ?? passage;

/** Return the address of that place. */
export const addressOf = (passage) => documentAddress(passage.corpus, passage.document_id, shownPlace(passage).start);

/** Return the nodes of an answer. `cite` makes the element of a citation, of its label and passage. */
export const renderAnswer = (text, citations, cite) =>
  renderMarkdown(text, (part) =>
    part.split(new RegExp(CITED, "g")).flatMap((one, place) => {
      if (place % 2 === 0) return one ? [one] : [];
      return one.split(", ").map((n) => citation(Number(n), citations.get(Number(n)), cite));
    }),
  );

function citation(n, cited, cite) {
  if (!cited?.url) return `[${n}]`;
  const { passage } = cited;
  const label = `Citation ${n}: ${passage.document}, ${span(passage.start, passage.end)}`;
  return cite({ class: "citation", "aria-label": label, title: label }, `[${n}]`, passage);
}

/** Return what each passage is called, by its place in the evidence: its number in the answer, or else a letter. */
export function numbersOf(evidence, given) {
  const id = (passage) => JSON.stringify([passage.corpus, passage.source, passage.level, passage.start]);
  const numbers = new Map(given.map((passage, place) => [id(passage), String(place + 1)]));
  return withLetters(evidence, (passage) => numbers.get(id(passage)));
}

/** Return the number of each passage, by its place in the evidence, or a letter if it has none. */
export function withLetters(evidence, numberOf) {
  let others = 0;
  return new Map(evidence.passages.map((passage, place) => [place, numberOf(passage) ?? letter(others++)]));
}

const letter = (place) => (place < 26 ? "" : letter(Math.floor(place / 26) - 1)) + String.fromCharCode(97 + (place % 26));

/** Return the Markdown of an answer with its sources. `citations`: [{number, document, start, end, page, heading}]. */
export const asMarkdown = (question, answer, citations) =>
  [
    `## ${question}`,
    answer,
    ...(citations.length ? [citations.map((one) => `${one.number}. ${placeOf(one)}`).join("\n")] : []),
  ].join("\n\n") + "\n";

const placeOf = ({ document, page, heading, start, end }) =>
  [document, page && `page ${page}`, heading !== document && heading, `characters ${start}–${end}`].filter(Boolean).join(", ");

/** Make the card of a passage, with what follows its text. */
export function card(passage, n, terms, ...more) {
  const where = [
    passage.level ? `Summary, level ${passage.level}` : "",
    passage.heading === passage.document ? "" : passage.heading,
    passage.page ? `page ${passage.page}` : "",
    span(shownPlace(passage).start, shownPlace(passage).end),
    passage.corpus,
  ];
  const pairs = passage.pairs.flatMap(({ a, b }) => [
    "; ",
    make("a", { href: entityAddress(passage.corpus, a, { with: b }) }, `${a} – ${b}`),
  ]);
  return make(
    "li",
    { class: "card" },
    make(
      "h4",
      {},
      n ? make("span", { class: "badge" }, make("span", { class: "hidden" }, "Passage "), String(n)) : null,
      make("a", { href: addressOf(passage) }, passage.document),
    ),
    make("p", { class: "note" }, where.filter(Boolean).join(" · ")),
    make("p", { class: "excerpt" }, ...marked(passage.excerpt?.text ?? passage.text.slice(0, EXCERPT), terms)),
    pairs.length ? make("p", { class: "note" }, "Connects ", ...pairs.slice(1)) : null,
    passage.referred ? make("p", { class: "note" }, `Another passage refers to it: “${passage.referred.text}”`) : null,
    ...more.filter(Boolean),
  );
}

/** Shows an answer in an element as it is written. */
export class Writing {
  constructor(element, citations, cite) {
    this.text = "";
    this.timer = null;
    this.render = () => element.replaceChildren(...renderAnswer(this.text, citations, cite));
  }

  add(piece) {
    this.text += piece;
    this.timer ??= setTimeout(() => this.show(), RENDERED_EVERY);
  }

  show() {
    this.timer = null;
    this.render();
  }

  /** Stop, and show what was not shown yet. */
  stop() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.show();
  }
}
