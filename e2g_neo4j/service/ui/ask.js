// Questions: the form, the answer as it is written, and its evidence.

import { entityAddress, goTo, viewAddress } from "./address.js";
import { call, events, inCorpus } from "./api.js";
import { beginTurn, draft, forgetDraft, keepTurn, placeInHistory, resume, setUpConversation, showRating, startAnew } from "./conversation.js";
import { announce, byId, counted, make, number } from "./dom.js";
import { asMarkdown, card, numbersOf, renderAnswer, searchedAs, shownPlace, withLetters, Writing } from "./evidence.js";
import { termsOf } from "./excerpt.js";
import { drawGraph } from "./graph.js";
import { closePassage, openPassage, setUpPanel, showTab } from "./passage.js";
import { clear, show } from "./problems.js";
import { drawTree } from "./tree.js";

const SPOKEN_EVERY = 3000; // milliseconds between two parts of the answer that a screen reader is given
const MANY_CORPORA = 8; // from this number on their list has a frame
const EXAMPLES = 3;
const HEADING = 2000; // characters of a heading that are kept

let running = null;
let shownAddress = "#ask"; // of the question whose answer is on the page
let asked = false; // whether a question was asked, so that examples are not needed
let answered = null; // the turn that is shown: what was asked, and its answer

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
  byId("regenerate").addEventListener("click", () => {
    fillForm(answered);
    ask(answered.number);
  });
  byId("copy-answer").addEventListener("click", async () => {
    await navigator.clipboard.writeText(asMarkdown(answered.question, answered.answer, answered.citations));
    announce("Copied.");
  });
  setUpConversation(() => chosenCorpora());
  setUpPanel();
}

/** Show the corpora to choose from, here and in Compare. What was chosen stays chosen. */
export function showCorpora(corpora) {
  for (const where of ["corpora", "compare-corpora"]) {
    const chosen = new Set(chosenCorpora(where));
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
    byId(where).replaceChildren(...(boxes.length ? boxes : [none]));
    byId(where).classList.toggle("long", boxes.length >= MANY_CORPORA);
  }
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

/** Return the corpora that are chosen. */
export const chosenCorpora = (where = "corpora") => [...byId(where).querySelectorAll("input:checked")].map((box) => box.value);

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
  forgetDraft();
  ask();
}

/** Show what an address names: a conversation that is kept, or a question, which is asked unless its answer is shown or
 * kept. */
export async function openQuestion({ conversation, params }) {
  const address = location.hash || "#ask";
  if (address === shownAddress) return;
  shownAddress = address;
  running?.abort();
  byId("result").hidden = true;
  startAnew();
  const before = conversation ? { conversation, turn: params.get("turn") } : (history.state ?? {});
  byId("question").value = draft() ?? before.question ?? params.get("q");
  if (before.conversation) {
    const turn = await resume(before.conversation, before.turn).catch((problem) => conversation && showMissing(problem));
    if (address !== shownAddress) return;
    if (turn && before.turn !== undefined) return restore(turn);
  }
  if (!params.has("q")) return;
  fillForm({ ...Object.fromEntries(OPTIONS.map((one) => [one, params.get(one)])), corpora: params.getAll("corpus") });
  const gone = params.getAll("corpus").filter((one) => !chosenCorpora().includes(one));
  if (gone.length) show({ title: `There is no corpus “${gone[0]}”, or not any more.`, detail: "", next: "Choose another corpus, and ask again." });
  else if (byId("ask-form").reportValidity()) ask();
}

function showMissing(problem) {
  if (problem.status !== 404) return show(problem);
  const next = "Open Conversations below the question, or ask a new question.";
  show({ title: "There is no such conversation, or not any more.", detail: "Each key has its own.", next });
}

/** Put the options and corpora of a question into the form. Those that are null are as usual. */
function fillForm({ corpora, where, ...options }) {
  for (const one of OPTIONS) byId(one).value = { ...options, where: where?.join?.("; ") ?? where }[one] ?? usual(byId(one));
  choose(corpora);
}

/** Show a turn that is kept. Its evidence is searched for again: the service keeps no passages. */
async function restore(turn) {
  fillForm(turn);
  byId("question").value = draft() ?? turn.question;
  asked = true;
  byId("examples").hidden = true;
  begin();
  const controller = (running = new AbortController());
  const passages = new Map(turn.citations.map((one) => [one.number, { url: true, passage: one }]));
  const showKept = () => byId("answer-text").replaceChildren(...renderAnswer(turn.answer, passages, cite));
  byId("answer").hidden = !turn.answer;
  showKept();
  state("");
  showTurn(turn);
  try {
    const { corpora, k, mode, hops, where } = turn;
    const found = await explain({ question: turn.searched_as || turn.question, corpora, k, mode, hops, where }, controller.signal);
    for (const one of turn.citations) {
      const here = found.evidence.passages.find((passage) => isSamePlace(passage, one));
      if (here) passages.set(one.number, { url: true, passage: here });
    }
    showKept();
    const numbers = withLetters(found.evidence, (passage) => {
      const cited = turn.citations.find((one) => isSamePlace(passage, one));
      return cited && String(cited.number);
    });
    showEvidence(found.evidence, numbers, "searched again; those that the answer cites have its numbers");
    draw(found, found.evidence, numbers);
  } catch (problem) {
    if (controller === running) show(problem);
  } finally {
    if (controller === running) end();
  }
}

const isSamePlace = (passage, { corpus, document_id: document, start, end, level }) =>
  passage.corpus === corpus && passage.document_id === document && passage.level === level && passage.start <= start && end <= passage.end;

/** Ask what the form says, in the place of a turn or as the next one. */
async function ask(place) {
  const [turn, earlier] = beginTurn(place);
  const question = {
    question: place === undefined ? byId("question").value : answered.question,
    corpora: chosenCorpora(),
    k: byId("k").valueAsNumber,
    mode: byId("mode").value,
    hops: byId("hops").valueAsNumber,
    where: byId("where").value.split(";").map((one) => one.trim()).filter(Boolean),
    history: earlier,
  };
  const { history: _, ...asIs } = question;
  answered = { ...asIs, number: turn, searched_as: "", answer: "", citations: [], rating: null };
  history.replaceState(placeInHistory(question.question), "");
  byId("ask-link").href = shownAddress;
  running?.abort();
  const controller = new AbortController();
  running = controller;
  asked = true;
  byId("examples").hidden = true;
  begin();
  try {
    await showReply(question, controller.signal);
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
  byId("answer-actions").hidden = true;
  byId("answer-options").textContent = "";
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

async function showReply(question, signal) {
  const citations = new Map();
  const spoken = new Speech();
  const written = new Writing(byId("answer-text"), citations, cite);
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
        keep(evidence, data.text, data.citations);
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

/** Keep a turn, with the places that its answer cites instead of their text. */
function keep(evidence, answer, citations) {
  const places = citations.filter((one) => one.url).map(({ number: n, passage }) => {
    const { corpus, document_id, document, level, page, heading } = passage;
    const { start, end } = shownPlace(passage);
    return { number: n, corpus, document_id, document, start, end, level, page, heading: heading?.slice(0, HEADING) };
  });
  Object.assign(answered, { searched_as: evidence.searched_as, answer, citations: places });
  showTurn(answered);
  keepTurn(answered);
}

/** Show what the answer of a turn was made with, and what can be done with it. */
function showTurn(turn) {
  answered = turn;
  const { mode, k, hops, where, corpora } = turn;
  byId("answer-options").textContent = [`Mode ${mode}`, `k ${k}`, `hops ${hops}`, ...where, corpora.join(", ")].join(" · ");
  byId("answer-actions").hidden = false;
  showRating();
}

/** Make a citation, which opens its passage beside the answer. */
const cite = (attributes, text, passage) =>
  make("button", { ...attributes, type: "button", onclick: (event) => openPassage(passage, event.currentTarget) }, text);

/** Make the address of a follow-up one that whoever opens it understands: the question with what it refers to. */
function keepAddress(evidence) {
  if (!evidence.searched_as || location.hash !== shownAddress) return;
  shownAddress = questionAddress(evidence.searched_as);
  history.replaceState(history.state, "", shownAddress);
  byId("ask-link").href = shownAddress;
}

const explain = (question, signal) => call("POST", "/explain", { body: question, signal });

/** Show the evidence alone: there is no chat model, or the key may not use it. */
async function withoutAnswer(question, signal, problem) {
  const found = await explain(question, signal);
  keepAddress(found.evidence);
  const numbers = new Map(found.evidence.passages.map((_, place) => [place, String(place + 1)]));
  byId("answer").hidden = true;
  showEvidence(found.evidence, numbers);
  keep(found.evidence, "", []);
  draw(found, found.evidence, numbers);
  const why = problem.status === 501 ? "This service has no chat model" : "This key may not use the chat model";
  const how = problem.status === 501 ? " To get answers, set E2G_CHAT_MODEL where the service runs, for example to ollama:NAME, and start it again." : "";
  byId("evidence-note").prepend(`${why}: this is the evidence alone.${how} `);
  announce(`${why}. ${counted(found.evidence.passages.length, "passage")} found.`);
}

function showAnswer(answer, citations, unspoken) {
  byId("answer-text").replaceChildren(...renderAnswer(answer.text, citations, cite));
  const notes = [];
  if (!answer.found) notes.push("The evidence does not contain the answer.");
  if (!answer.finished) notes.push("The answer was cut off at its maximum length.");
  notes.push(`${counted(citations.size, "citation")}.`);
  const { prompt_tokens: sent, completion_tokens: received } = answer;
  if (sent) notes.push(`${number(sent)} tokens sent, ${number(received)} received.`);
  byId("answer-state").textContent = notes.join(" ");
  announce(`${unspoken} The answer is complete. ${notes[0]}`);
}

/** Show the passages: those that the chat model read in the order of their numbers, then what else was found. */
function showEvidence(evidence, numbers, kept) {
  const { passages, reason, unknown_entities: unknown, in_text: inText, ignored_entities: ignored } = evidence;
  const terms = termsOf(searchedAs(evidence), evidence.entities);
  const named = passages.map((passage, place) => ({ passage, n: numbers?.get(place) }));
  const apart = numbers && !kept; // what the model read, and what not
  const read = apart ? named.filter(({ n }) => wasRead(n)).sort((a, b) => Number(a.n) - Number(b.n)) : named;
  const others = apart ? named.filter(({ n }) => !wasRead(n)) : [];
  const how = apart && !byId("answer").hidden ? `${number(read.length)} read by the chat model, numbered as it cites them` : "best first";
  const found = `${counted(passages.length, "passage")}, ${kept ?? how}.`;
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
  const cardOf = ({ passage, n }) => card(passage, n, terms, openButton(passage, n));
  byId("evidence").replaceChildren(...read.map(cardOf));
  byId("also-found").hidden = !others.length;
  byId("also").replaceChildren(...others.map(cardOf));
}

const wasRead = (n) => /^\d/.test(n);

function openButton(passage, n) {
  const name = `Open ${n ? `passage ${n}` : "the passage"} in ${passage.document}`;
  return make("button", { type: "button", "aria-label": name, onclick: (event) => openPassage(passage, event.currentTarget) }, "Open in the text");
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
