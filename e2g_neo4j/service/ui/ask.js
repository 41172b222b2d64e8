// Questions: the form, the answer as it is written, and its evidence.

import { call, events } from "./api.js";
import { announce, byId, counted, make, number, shortened, span } from "./dom.js";
import { drawGraph } from "./graph.js";
import { closePassage, documentOf, openPassage, setUpPanel, showTab } from "./passage.js";
import { clear, show } from "./problems.js";
import { drawTree } from "./tree.js";

const SPOKEN_EVERY = 3000; // milliseconds between two parts of the answer that a screen reader is given
const CITED = /\[(\d+(?:, \d+)*)\]/;

let running = null;
let withoutModel = null; // the reply that says that the service has no chat model

export function setUpAsking() {
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("ask-form").requestSubmit();
  });
  byId("stop-button").addEventListener("click", () => running?.abort());
  setUpPanel();
}

/** Show the corpora to choose from. What was chosen stays chosen. */
export function showCorpora(corpora) {
  const chosen = new Set(chosenCorpora());
  if (!chosen.size && corpora.length) chosen.add(corpora[0].corpus);
  const boxes = corpora.map(({ corpus, documents }) =>
    make(
      "label",
      { class: "choice" },
      make("input", { type: "checkbox", name: "corpus", value: corpus, checked: chosen.has(corpus) }),
      ` ${corpus} `,
      make("span", { class: "note" }, `(${counted(documents, "document")})`),
    ),
  );
  const none = make("p", { class: "note" }, "There is no corpus yet. ", make("a", { href: "#documents" }, "Upload documents."));
  byId("corpora").replaceChildren(...(boxes.length ? boxes : [none]));
}

const chosenCorpora = () => [...byId("corpora").querySelectorAll("input:checked")].map((box) => box.value);

async function ask() {
  clear();
  const corpora = chosenCorpora();
  if (!corpora.length) {
    show({ title: "No corpus is chosen.", detail: "", next: "Choose one or several corpora." });
    return;
  }
  const question = {
    question: byId("question").value,
    corpora,
    k: byId("k").valueAsNumber,
    mode: byId("mode").value,
    hops: byId("hops").valueAsNumber,
  };
  running?.abort();
  const controller = new AbortController();
  running = controller;
  begin();
  try {
    await answered(question, controller.signal);
  } catch (problem) {
    if (controller !== running) return;
    if (problem.name === "AbortError") state("Stopped.");
    else failed(problem);
  } finally {
    if (controller === running) end();
  }
}

function begin() {
  closePassage();
  byId("result").hidden = false;
  byId("answer").hidden = false;
  byId("answer-text").replaceChildren();
  byId("evidence").replaceChildren();
  byId("evidence-note").textContent = "";
  byId("panel-graph").replaceChildren();
  byId("panel-tree").replaceChildren();
  byId("stop-button").hidden = false;
  byId("result").setAttribute("aria-busy", "true");
  showTab("graph");
  state("Searching …");
}

function end() {
  running = null;
  if (document.activeElement === byId("stop-button")) byId("ask-button").focus();
  byId("stop-button").hidden = true;
  byId("result").removeAttribute("aria-busy");
}

function failed(problem) {
  state("No answer.");
  show(problem);
}

function state(text) {
  byId("answer-state").textContent = text;
  announce(text);
}

async function answered(question, signal) {
  const text = byId("answer-text");
  const citations = new Map();
  const spoken = new Speech();
  let evidence = null;
  let explained = null;
  let numbers = null;
  try {
    if (withoutModel) throw withoutModel;
    for await (const { name, data } of events("/ask", { body: { ...question, stream: true }, signal })) {
      if (name === "evidence") {
        evidence = data;
        showEvidence(evidence, null);
        state("Writing the answer …");
        explained = explain(question, signal).catch(show);
        explained.then((found) => found && draw(found, evidence, numbers));
      } else if (name === "delta") {
        text.append(data.text);
        spoken.add(data.text);
      } else if (name === "citation") {
        citations.set(data.n, data);
      } else if (name === "done") {
        numbers = numbersOf(evidence, data.given);
        showAnswer(data, citations, spoken.stop());
        showEvidence(evidence, numbers);
        const found = await explained;
        if (found) draw(found, evidence, numbers);
      }
    }
  } catch (problem) {
    if (problem.status !== 501 && problem.code !== "scope") throw problem;
    if (problem.status === 501) withoutModel = problem;
    await withoutAnswer(question, signal, problem);
  } finally {
    spoken.stop();
  }
}

const explain = (question, signal) => call("POST", "/explain", { body: question, signal });

/** Show the evidence alone: there is no chat model, or the key may not use it. */
async function withoutAnswer(question, signal, problem) {
  const found = await explain(question, signal);
  const numbers = new Map(found.evidence.passages.map((_, place) => [place, place + 1]));
  byId("answer").hidden = true;
  showEvidence(found.evidence, numbers);
  draw(found, found.evidence, numbers);
  const why = problem.status === 501 ? "This service has no chat model" : "This key may not use the chat model";
  byId("evidence-note").prepend(`${why}: this is the evidence alone. `);
  announce(`${why}. ${counted(found.evidence.passages.length, "passage")} found.`);
}

function showAnswer(answer, citations, unspoken) {
  const parts = answer.text.split(new RegExp(CITED, "g"));
  const shown = parts.flatMap((part, place) => {
    if (place % 2 === 0) return [part];
    return part.split(", ").map((one) => citation(Number(one), citations.get(Number(one))));
  });
  byId("answer-text").replaceChildren(...shown);
  const notes = [];
  if (!answer.found) notes.push("The evidence does not contain the answer.");
  if (!answer.finished) notes.push("The answer was cut off at its maximum length.");
  notes.push(`${counted(citations.size, "citation")}.`);
  const { prompt_tokens: sent, completion_tokens: received } = answer.usage;
  if (sent) notes.push(`${number(sent)} tokens sent, ${number(received)} received.`);
  byId("answer-state").textContent = notes.join(" ");
  announce(`${unspoken} The answer is complete. ${notes[0]}`);
}

function citation(n, link) {
  if (!link || !link.url) return `[${n}]`;
  const label = `Citation ${n}: ${link.title}, ${span(link.start, link.end)}`;
  return make(
    "button",
    {
      type: "button",
      class: "citation",
      "aria-label": label,
      title: label,
      onclick: (event) => openPassage(link, event.currentTarget),
    },
    `[${n}]`,
  );
}

/** Return the number of each passage in the answer, by its place in the evidence. */
function numbersOf(evidence, given) {
  const id = (passage) => JSON.stringify([passage.corpus, passage.source, passage.level, passage.start]);
  const numbers = new Map(given.map((passage, place) => [id(passage), place + 1]));
  return new Map(evidence.passages.map((passage, place) => [place, numbers.get(id(passage))]));
}

function showEvidence(evidence, numbers) {
  const { passages, reason, unknown_entities: unknown, ignored_entities: ignored } = evidence;
  byId("evidence-note").textContent = [
    `${counted(passages.length, "passage")}, best first.`,
    reason,
    unknown.length ? `Not in the corpus: ${unknown.join(", ")}.` : "",
    ignored.length ? `Not considered: ${ignored.join(", ")}.` : "",
  ].join(" ");
  byId("evidence").replaceChildren(...passages.map((passage, place) => card(passage, numbers?.get(place), numbers)));
}

function card(passage, n, numbers) {
  const where = [
    passage.level ? `Summary, level ${passage.level}` : "",
    passage.heading,
    passage.page ? `page ${passage.page}` : "",
    span(passage.start, passage.end),
    passage.corpus,
  ];
  const pairs = passage.pairs.map((pair) => `${pair.a} – ${pair.b}`).join("; ");
  const name = `Open ${n ? `passage ${n}` : "the passage"} in ${passage.document}`;
  return make(
    "li",
    { class: "card" },
    make(
      "h4",
      {},
      n ? make("span", { class: "badge" }, make("span", { class: "hidden" }, "Passage "), String(n)) : null,
      passage.document,
    ),
    make("p", { class: "note" }, where.filter(Boolean).join(" · ")),
    make("p", { class: "excerpt" }, shortened(passage.text, 420)),
    pairs ? make("p", { class: "note" }, `Connects ${pairs}`) : null,
    numbers && !n ? make("p", { class: "note" }, "Not given to the chat model: too long.") : null,
    make(
      "button",
      {
        type: "button",
        "aria-label": name,
        onclick: (event) => openPassage({ ...passage, title: passage.document, document: documentOf(passage) }, event.currentTarget),
      },
      "Open in the text",
    ),
  );
}

/** Draw graph and tree. `numbers` are those of the passages, once they are known. */
function draw(found, evidence, numbers) {
  const labels = new Map();
  evidence.passages.forEach((passage, place) => {
    for (const node of passage.nodes) labels.set(node, [...(labels.get(node) ?? []), { passage, n: numbers?.get(place) }]);
  });
  const open = (passage, opener) =>
    openPassage({ ...passage, title: passage.document, document: documentOf(passage) }, opener);
  drawGraph(byId("panel-graph"), found, labels, open);
  drawTree(byId("panel-tree"), found, labels, open);
}

/** Gives the answer to screen readers in whole sentences, not token by token. */
class Speech {
  constructor() {
    this.text = "";
    this.timer = setInterval(() => this.speak(), SPOKEN_EVERY);
  }

  add(piece) {
    this.text += piece;
  }

  speak() {
    const ends = Math.max(...[". ", "? ", "! ", "\n"].map((mark) => this.text.lastIndexOf(mark)));
    if (ends < 0) return;
    announce(this.text.slice(0, ends + 1));
    this.text = this.text.slice(ends + 1);
  }

  /** Stop, and return what was not spoken yet. */
  stop() {
    clearInterval(this.timer);
    return this.text;
  }
}
