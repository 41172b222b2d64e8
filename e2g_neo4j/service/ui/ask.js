// Questions: the form, the answer as it is written, and its evidence.

import { documentAddress, entityAddress, goTo, viewAddress } from "./address.js";
import { call, events, inCorpus } from "./api.js";
import { earlierTurns, keepTurn, setUpConversation, startAnew, turnsBefore } from "./conversation.js";
import { announce, byId, counted, make, number, span } from "./dom.js";
import { marked, termsOf } from "./excerpt.js";
import { drawGraph } from "./graph.js";
import { renderMarkdown } from "./markdown.js";
import { closePassage, openPassage, setUpPanel, showTab } from "./passage.js";
import { clear, show } from "./problems.js";
import { drawTree } from "./tree.js";

const SPOKEN_EVERY = 3000; // milliseconds between two parts of the answer that a screen reader is given
const RENDERED_EVERY = 150; // milliseconds between two renderings of an answer that is being written
const EXCERPT = 420; // characters of a passage without an excerpt
const CITED = /\[(\d+(?:, \d+)*)\]/;

const MANY_CORPORA = 8; // from this number on their list has a frame
const EXAMPLES = 3;

let running = null;
let shownAddress = "#ask"; // of the question whose answer is on the page
let asked = false; // whether a question was asked, so that examples are not needed

export function setUpAsking() {
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("ask-form").requestSubmit();
  });
  byId("stop-button").addEventListener("click", () => running?.abort());
  setUpConversation();
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
  byId("corpora").classList.toggle("long", boxes.length >= MANY_CORPORA);
  byId("corpora").onchange = showExamples;
  showExamples();
}

/** Show questions that the chosen corpus can answer, made of its most frequent names. */
async function showExamples() {
  const [corpus] = chosenCorpora();
  byId("examples").hidden = true;
  if (asked || !corpus) return;
  const found = await call("GET", inCorpus(corpus, "entities"), { query: { limit: 200 } }).catch(() => []);
  if (asked || corpus !== chosenCorpora()[0]) return;
  const full = (name) => Number(name.includes(" ")); // full names first: a single word is taken for a name more often
  const names = (...types) =>
    found.filter(({ type }) => types.includes(type)).map(({ name }) => name).sort((a, b) => full(b) - full(a));
  const [people, places] = [[...names("person"), ...names("name")], names("place", "organisation")];
  const questions = [
    people.length ? `Who is ${people[0]}?` : "",
    people.length > 1 ? `How are ${people[0]} and ${people[1]} connected?` : "",
    places.length ? `What happens in ${places[0]}?` : "",
  ].filter(Boolean);
  const fill = (question) => () => {
    byId("question").value = question;
    byId("question").focus();
  };
  byId("examples").replaceChildren(
    make("span", { class: "note" }, "For example:"),
    ...questions.slice(0, EXAMPLES).map((one) => make("button", { type: "button", class: "link", onclick: fill(one) }, one)),
  );
  byId("examples").hidden = !questions.length;
}

/** Keep a question in the list of this visit, the last one first. It is kept in memory only. */
function remember({ question, corpora }) {
  asked = true;
  byId("examples").hidden = true;
  byId("history").hidden = false;
  for (const one of [...byId("asked").children]) if (one.dataset.question === question) one.remove();
  const again = () => {
    startAnew();
    byId("question").value = question;
    choose(corpora);
    submit();
  };
  const button = make("button", { type: "button", class: "link", onclick: again }, question);
  byId("asked").prepend(make("li", { "data-question": question }, button, make("span", { class: "note" }, ` ${corpora.join(", ")}`)));
}

const chosenCorpora = () => [...byId("corpora").querySelectorAll("input:checked")].map((box) => box.value);

function choose(corpora) {
  for (const box of byId("corpora").querySelectorAll("input")) box.checked = corpora.includes(box.value);
}

const OPTIONS = ["k", "mode", "hops", "where"];

/** Return the address of a question with what the form says about it. Options that are as usual are not in it. */
function questionAddress(q) {
  const options = OPTIONS.map(byId).map((one) => [one.id, one.value === usual(one) ? null : one.value]);
  return viewAddress("ask", { q, corpus: chosenCorpora(), ...Object.fromEntries(options) });
}

const usual = (field) => field.defaultValue ?? field.options[0].value;

/** Ask what the form says. */
function submit() {
  clear();
  if (!chosenCorpora().length) {
    show({ title: "No corpus is chosen.", detail: "", next: "Choose one or several corpora." });
    return;
  }
  shownAddress = questionAddress(byId("question").value);
  goTo(shownAddress);
  ask();
}

/** Show the question that an address names, and ask it unless its answer is shown already. */
export function openQuestion({ params }) {
  const address = location.hash || "#ask";
  if (address === shownAddress) return;
  shownAddress = address;
  running?.abort();
  byId("result").hidden = true;
  startAnew(history.state?.turns);
  byId("question").value = history.state?.question ?? params.get("q");
  if (!params.has("q")) return;
  for (const one of OPTIONS) byId(one).value = params.get(one) ?? usual(byId(one));
  const there = [...byId("corpora").querySelectorAll("input")].map((box) => box.value);
  const gone = params.getAll("corpus").filter((one) => !there.includes(one));
  choose(params.getAll("corpus"));
  if (gone.length) show({ title: `There is no corpus “${gone[0]}”, or not any more.`, detail: "", next: "Choose another corpus, and ask again." });
  else if (byId("ask-form").reportValidity()) ask();
}

async function ask() {
  const corpora = chosenCorpora();
  const question = {
    question: byId("question").value,
    corpora,
    k: byId("k").valueAsNumber,
    mode: byId("mode").value,
    hops: byId("hops").valueAsNumber,
    where: byId("where").value.split(";").map((one) => one.trim()).filter(Boolean),
    history: earlierTurns(),
  };
  history.replaceState({ question: question.question, turns: turnsBefore() }, "");
  byId("ask-link").href = shownAddress;
  running?.abort();
  const controller = new AbortController();
  running = controller;
  remember(question);
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
  byId("also").replaceChildren();
  byId("also-found").hidden = true;
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
  const citations = new Map();
  const spoken = new Speech();
  const written = new Writing(citations);
  let evidence = null;
  let explained = null;
  let numbers = null;
  try {
    for await (const { name, data } of events("/ask", { body: { ...question, stream: true }, signal })) {
      if (name === "evidence") {
        evidence = data;
        keepAddress(evidence);
        showEvidence(evidence, null);
        state("Writing the answer …");
        explained = explain({ ...question, question: searchedAs(evidence), history: [] }, signal).catch(show);
        explained.then((found) => found && draw(found, evidence, numbers));
      } else if (name === "delta") {
        written.add(data.text);
        spoken.add(data.text);
      } else if (name === "citation") {
        citations.set(data.number, data);
      } else if (name === "done") {
        numbers = numbersOf(evidence, data.given);
        written.stop();
        showAnswer(data, citations, spoken.stop());
        keepTurn(question.question, evidence, data.text);
        showEvidence(evidence, numbers);
        const found = await explained;
        if (found) draw(found, evidence, numbers);
      }
    }
  } catch (problem) {
    if (problem.status !== 501 && problem.code !== "scope") throw problem;
    await withoutAnswer(question, signal, problem);
  } finally {
    written.stop();
    spoken.stop();
  }
}

/** Make the address of a follow-up one that whoever opens it understands: the question with what it refers to. */
function keepAddress(evidence) {
  if (!evidence.searched_as || location.hash !== shownAddress) return;
  shownAddress = questionAddress(evidence.searched_as);
  history.replaceState(history.state, "", shownAddress);
  byId("ask-link").href = shownAddress;
}

/** Return the question that was searched for: earlier turns may have completed it. */
const searchedAs = (evidence) => evidence.searched_as || evidence.question;

const explain = (question, signal) => call("POST", "/explain", { body: question, signal });

/** Show the evidence alone: there is no chat model, or the key may not use it. */
async function withoutAnswer(question, signal, problem) {
  const found = await explain(question, signal);
  keepAddress(found.evidence);
  const numbers = new Map(found.evidence.passages.map((_, place) => [place, String(place + 1)]));
  byId("answer").hidden = true;
  showEvidence(found.evidence, numbers);
  keepTurn(question.question, found.evidence, null);
  draw(found, found.evidence, numbers);
  const why = problem.status === 501 ? "This service has no chat model" : "This key may not use the chat model";
  const how = problem.status === 501 ? " To get answers, set E2G_CHAT_MODEL where the service runs, for example to ollama:NAME, and start it again." : "";
  byId("evidence-note").prepend(`${why}: this is the evidence alone.${how} `);
  announce(`${why}. ${counted(found.evidence.passages.length, "passage")} found.`);
}

function showAnswer(answer, citations, unspoken) {
  byId("answer-text").replaceChildren(...rendered(answer.text, citations));
  const notes = [];
  if (!answer.found) notes.push("The evidence does not contain the answer.");
  if (!answer.finished) notes.push("The answer was cut off at its maximum length.");
  notes.push(`${counted(citations.size, "citation")}.`);
  const { prompt_tokens: sent, completion_tokens: received } = answer;
  if (sent) notes.push(`${number(sent)} tokens sent, ${number(received)} received.`);
  byId("answer-state").textContent = notes.join(" ");
  announce(`${unspoken} The answer is complete. ${notes[0]}`);
}

const rendered = (text, citations) =>
  renderMarkdown(text, (part) =>
    part.split(new RegExp(CITED, "g")).flatMap((one, place) => {
      if (place % 2 === 0) return one ? [one] : [];
      return one.split(", ").map((n) => citation(Number(n), citations.get(Number(n))));
    }),
  );

function citation(n, cited) {
  if (!cited?.url) return `[${n}]`;
  const { passage } = cited;
  const label = `Citation ${n}: ${passage.document}, ${span(passage.start, passage.end)}`;
  return make(
    "button",
    {
      type: "button",
      class: "citation",
      "aria-label": label,
      title: label,
      onclick: (event) => openPassage(passage, event.currentTarget),
    },
    `[${n}]`,
  );
}

/** Return what each passage is called, by its place in the evidence: its number in the answer, or else a letter. */
function numbersOf(evidence, given) {
  const id = (passage) => JSON.stringify([passage.corpus, passage.source, passage.level, passage.start]);
  const numbers = new Map(given.map((passage, place) => [id(passage), String(place + 1)]));
  let others = 0;
  return new Map(evidence.passages.map((passage, place) => [place, numbers.get(id(passage)) ?? letter(others++)]));
}

const letter = (place) => (place < 26 ? "" : letter(Math.floor(place / 26) - 1)) + String.fromCharCode(97 + (place % 26));

const wasRead = (n) => /^\d/.test(n);

/** Show the passages: those that the chat model read in the order of their numbers, then what else was found. */
function showEvidence(evidence, numbers) {
  const { passages, reason, unknown_entities: unknown, in_text: inText, ignored_entities: ignored } = evidence;
  const terms = termsOf(searchedAs(evidence), evidence.entities);
  const named = passages.map((passage, place) => ({ passage, n: numbers?.get(place) }));
  const read = numbers ? named.filter(({ n }) => wasRead(n)).sort((a, b) => Number(a.n) - Number(b.n)) : named;
  const others = numbers ? named.filter(({ n }) => !wasRead(n)) : [];
  const answered = numbers && !byId("answer").hidden;
  const found = `${counted(passages.length, "passage")}, ${answered ? `${number(read.length)} read by the chat model, numbered as it cites them` : "best first"}.`;
  byId("evidence-note").textContent = [
    found,
    reason,
    ...unknown.map((name) => `No entity named “${name}”${inText.includes(name) ? ", but its words occur in the text" : ""}.`),
    ignored.length ? `Not considered: ${ignored.join(", ")}.` : "",
    evidence.searched_as ? `Searched as: ${evidence.searched_as}` : "",
  ].join(" ");
  const [corpus, another] = evidence.corpora;
  if (evidence.entities.length && !another) {
    const links = evidence.entities.flatMap((name) => [", ", make("a", { href: entityAddress(corpus, name) }, name)]);
    byId("evidence-note").append(" Explore ", ...links.slice(1), ".");
  }
  byId("evidence").replaceChildren(...read.map(({ passage, n }) => card(passage, n, terms)));
  byId("also-found").hidden = !others.length;
  byId("also").replaceChildren(...others.map(({ passage, n }) => card(passage, n, terms)));
}

function card(passage, n, terms) {
  const where = [
    passage.level ? `Summary, level ${passage.level}` : "",
    passage.heading === passage.document ? "" : passage.heading,
    passage.page ? `page ${passage.page}` : "",
    span((passage.excerpt ?? passage).start, (passage.excerpt ?? passage).end),
    passage.corpus,
  ];
  const pairs = passage.pairs.flatMap(({ a, b }) => [
    "; ",
    make("a", { href: entityAddress(passage.corpus, a, { with: b }) }, `${a} – ${b}`),
  ]);
  const name = `Open ${n ? `passage ${n}` : "the passage"} in ${passage.document}`;
  return make(
    "li",
    { class: "card" },
    make(
      "h4",
      {},
      n ? make("span", { class: "badge" }, make("span", { class: "hidden" }, "Passage "), String(n)) : null,
      make("a", { href: documentAddress(passage.corpus, passage.document_id, (passage.excerpt ?? passage).start) }, passage.document),
    ),
    make("p", { class: "note" }, where.filter(Boolean).join(" · ")),
    make("p", { class: "excerpt" }, ...marked(passage.excerpt?.text ?? passage.text.slice(0, EXCERPT), terms)),
    pairs.length ? make("p", { class: "note" }, "Connects ", ...pairs.slice(1)) : null,
    passage.referred ? make("p", { class: "note" }, `Another passage refers to it: “${passage.referred.text}”`) : null,
    make(
      "button",
      {
        type: "button",
        "aria-label": name,
        onclick: (event) => openPassage(passage, event.currentTarget),
      },
      "Open in the text",
    ),
  );
}

/** Draw graph and tree. `numbers` are those of the passages, once they are known. */
function draw(found, evidence, numbers) {
  const labels = new Map();
  evidence.passages.forEach((passage, place) => {
    for (const node of passage.nodes) labels.set(node, [...(labels.get(node) ?? []), { passage, place, n: numbers?.get(place) }]);
  });
  drawGraph(byId("panel-graph"), found, labels, openPassage);
  drawTree(byId("panel-tree"), found, labels, openPassage);
}

/** Shows an answer as it is written. */
class Writing {
  constructor(citations) {
    this.text = "";
    this.citations = citations;
    this.timer = null;
  }

  add(piece) {
    this.text += piece;
    this.timer ??= setTimeout(() => this.show(), RENDERED_EVERY);
  }

  show() {
    this.timer = null;
    byId("answer-text").replaceChildren(...rendered(this.text, this.citations));
  }

  /** Stop, and show what was not shown yet. */
  stop() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.show();
  }
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
