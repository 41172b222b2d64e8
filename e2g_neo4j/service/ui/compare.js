// Compare: one question in two modes side by side, with what both have.

import { goTo, viewAddress } from "./address.js";
import { call, events } from "./api.js";
import { chosenCorpora } from "./ask.js";
import { announce, byId, counted, make, number } from "./dom.js";
import { addressOf, card, numbersOf, renderAnswer, searchedAs, withLetters, Writing } from "./evidence.js";
import { termsOf } from "./excerpt.js";
import { clear, show } from "./problems.js";

const SIDES = ["a", "b"];
const OPTIONS = ["mode", "k", "hops", "where"];
const CORPORA = "compare-corpora";

let running = null;
let shownAddress = "";
let found = {}; // by side: {evidence, numbers}

export function setUpCompare() {
  byId("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("compare-question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("compare-form").requestSubmit();
  });
  byId("compare-stop").addEventListener("click", () => running?.abort());
}

const usual = { a: { mode: "auto", k: "10", hops: "3", where: "" }, b: { mode: "dense", k: "10", hops: "3", where: "" } };

function submit() {
  clear();
  const corpus = chosenCorpora(CORPORA);
  if (!corpus.length) return show({ title: "No corpus is chosen.", detail: "", next: "Choose one or several corpora." });
  const options = SIDES.flatMap((side) =>
    OPTIONS.map((one) => [`${one}-${side}`, byId(`${one}-${side}`).value]).filter(([name, value]) => value !== usual[side][name.split("-")[0]]),
  );
  shownAddress = viewAddress("compare", { q: byId("compare-question").value, corpus, ...Object.fromEntries(options) });
  goTo(shownAddress);
  return compare();
}

/** Give each side the options of Ask. */
function makeOptions(side) {
  const options = document.querySelector("#ask-form .options").cloneNode(true);
  for (const name of ["id", "for", "aria-describedby"]) {
    for (const one of options.querySelectorAll(`[${name}]`)) one.setAttribute(name, `${one.getAttribute(name)}-${side}`);
  }
  byId(`options-${side}`).append(options);
}

/** Show the comparison that an address names, and make it unless it is shown already. */
export function showCompare({ params }) {
  if (!byId("mode-a")) SIDES.forEach(makeOptions);
  if (location.hash === shownAddress) return;
  shownAddress = location.hash;
  running?.abort();
  byId("compared").hidden = true;
  byId("compare-note").textContent = "";
  if (params.has("q") || !byId("compare-question").value) byId("compare-question").value = params.get("q");
  for (const side of SIDES) {
    for (const one of OPTIONS) byId(`${one}-${side}`).value = params.get(`${one}-${side}`) ?? usual[side][one];
  }
  if (!params.has("q")) return;
  const corpora = params.getAll("corpus");
  for (const box of byId(CORPORA).querySelectorAll("input")) box.checked = corpora.includes(box.value);
  const gone = corpora.filter((one) => !chosenCorpora(CORPORA).includes(one));
  if (gone.length) show({ title: `There is no corpus “${gone[0]}”, or not any more.`, detail: "", next: "Choose another corpus, and compare again." });
  else if (byId("compare-form").reportValidity()) compare();
}

async function compare() {
  running?.abort();
  const controller = (running = new AbortController());
  found = {};
  byId("compared").hidden = false;
  byId("compare-stop").hidden = false;
  byId("compare-note").textContent = "Searching …";
  const stopped = await Promise.all(SIDES.map((side) => showSide(side, controller)));
  if (controller !== running) return;
  running = null;
  if (document.activeElement === byId("compare-stop")) byId("compare-button").focus();
  byId("compare-stop").hidden = true;
  if (stopped.some(Boolean)) byId("compare-note").textContent = "Stopped, or failed on one side.";
  announce(byId("compare-note").textContent);
}

/** Ask on one side. Returns whether that was stopped or failed. */
async function showSide(side, controller) {
  const value = (one) => byId(`${one}-${side}`).value;
  const question = {
    question: byId("compare-question").value,
    corpora: chosenCorpora(CORPORA),
    mode: value("mode"),
    k: Number(value("k")),
    hops: Number(value("hops")),
    where: value("where").split(";").map((one) => one.trim()).filter(Boolean),
  };
  const { signal } = controller;
  const answer = byId(`answer-${side}`);
  byId(`title-${side}`).textContent = [`Mode ${question.mode}`, `k ${question.k}`, `hops ${question.hops}`, ...question.where].join(" · ");
  byId(`note-${side}`).textContent = "";
  answer.replaceChildren();
  byId(`evidence-${side}`).replaceChildren();
  const citations = new Map();
  const written = new Writing(answer, citations, cite);
  const keep = (evidence, numbers) => {
    found[side] = { evidence, numbers };
    showEvidence();
  };
  try {
    for await (const { name, data } of events("/ask", { body: { ...question, stream: true }, signal })) {
      if (name === "evidence") keep(data, withLetters(data, () => ""));
      else if (name === "delta") written.add(data.text);
      else if (name === "citation") citations.set(data.number, data);
      else if (name === "done") {
        written.stop();
        answer.replaceChildren(...renderAnswer(data.text, citations, cite));
        keep(found[side].evidence, numbersOf(found[side].evidence, data.given));
      }
    }
  } catch (problem) {
    if (controller !== running) return true;
    if (problem.status !== 501 && problem.code !== "scope") return fail(side, problem);
    answer.replaceChildren(make("p", { class: "note" }, problem.status === 501 ? "This service has no chat model: this is the evidence alone." : "This key may not use the chat model: this is the evidence alone."));
    const evidence = await call("POST", "/retrieve", { body: question, signal }).catch((other) => fail(side, other));
    if (evidence === true) return true;
    if (controller === running) keep(evidence, new Map(evidence.passages.map((_, place) => [place, String(place + 1)])));
  } finally {
    written.stop();
  }
  return false;
}

/** Say what failed: beside the other side, which goes on. A missing key is asked for. */
function fail(side, problem) {
  if (problem.status === 401) show(problem);
  else if (problem.name !== "AbortError") byId(`note-${side}`).textContent = `${problem.title} ${problem.detail} ${problem.next}`;
  return true;
}

const cite = (attributes, text, passage) => make("a", { ...attributes, href: addressOf(passage) }, text);

/** Show what has been found, and mark what both sides have. */
function showEvidence() {
  const [a, b] = SIDES.map((side) => found[side]?.evidence.passages);
  const counts = SIDES.map((side) => {
    if (!found[side]) return 0;
    const { evidence, numbers } = found[side];
    const terms = termsOf(searchedAs(evidence), evidence.entities);
    const others = (side === "a" ? b : a) ?? [];
    const cards = evidence.passages.map((passage, place) => {
      const both = others.some((other) => isSame(passage, other));
      const item = card(passage, numbers.get(place), terms, both && make("p", { class: "shared" }, "In both"), reasons(passage));
      item.classList.toggle("both", both);
      return item;
    });
    byId(`evidence-${side}`).replaceChildren(...cards);
    byId(`note-${side}`).textContent = `${counted(evidence.passages.length, "passage")}. ${evidence.reason}`;
    return cards.filter((one) => one.classList.contains("both")).length;
  });
  if (a && b) byId("compare-note").textContent = `${number(counts[0])} of ${number(a.length)} passages of the first mode are in the second too, ${number(counts[1])} of ${number(b.length)} the other way round.`;
}

/** Whether two passages are the same text or parts of it: modes cut it differently. Summaries are the same node. */
function isSame(one, other) {
  if (one.corpus !== other.corpus || one.document_id !== other.document_id || one.level !== other.level) return false;
  return one.level ? one.nodes.some((node) => other.nodes.includes(node)) : one.start < other.end && other.start < one.end;
}

const reasons = ({ signals, score }) => {
  const parts = Object.entries(signals).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return make("p", { class: "note" }, `Score ${score.toFixed(3)}${parts.length ? `: ${parts.join(", ")}` : ""}`);
};
