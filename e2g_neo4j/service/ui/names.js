// Names of a corpus: its entities, and which names mean the same one.

import { entityAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { announce, byId, counted, make, number } from "./dom.js";
import { offerRows } from "./downloads.js";
import { clear, show } from "./problems.js";

const SHOWN = 25;
const DOCUMENTS = 1000; // to choose from

let mayWrite = true;

/** Set up the card. */
export function setUpNames() {
  byId("names").addEventListener("toggle", () => byId("names").open && list());
  byId("names-form").addEventListener("submit", (event) => {
    event.preventDefault();
    list();
  });
  byId("merge-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const [name, into] = [byId("merge-name").value.trim(), byId("merge-into").value.trim()];
    change("PUT", "merges", name, { into }, `${name} means ${into} now.`);
  });
  byId("split-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const [name, document] = [byId("split-name").value.trim(), byId("split-document").value];
    const where = document ? ` in ${byId("split-document").selectedOptions[0].text}` : "";
    change("PUT", "splits", name, document ? { document } : undefined, `${name} is a name of its own${where} now.`);
  });
}

/** Show the names of the corpus that is chosen. `allowed`: whether the caller may change them. */
export function showNames(allowed) {
  mayWrite = allowed;
  byId("names").hidden = !byId("corpus").value;
  byId("merge-form").hidden = byId("split-form").hidden = !allowed;
  byId("names-query").value = "";
  if (byId("names").open) list();
}

async function list() {
  const corpus = byId("corpus").value;
  const q = byId("names-query").value.trim();
  try {
    const [entities, merges, { documents }] = await Promise.all([
      call("GET", inCorpus(corpus, "entities"), { query: { q, limit: SHOWN } }),
      call("GET", inCorpus(corpus, "merges"), { query: { q } }),
      call("GET", inCorpus(corpus, "documents"), { query: { limit: DOCUMENTS } }),
    ]);
    if (corpus !== byId("corpus").value) return;
    const names = [...new Map(merges.map((one) => [`${one.key}\n${one.entity}`, one])).values()];
    byId("names-note").textContent = `${counted(entities.length, "name")}${entities.length < SHOWN ? "" : " or more"}; ${counted(names.length, "merge")}.`;
    offerRows("names-downloads", "Names", () => call("GET", inCorpus(corpus, "entities"), { query: { q, limit: 1000 } }));
    const options = documents.map(({ id, title }) => make("option", { value: id }, title));
    byId("split-document").replaceChildren(make("option", { value: "" }, "all documents"), ...options);
    byId("names-list").replaceChildren(...entities.map(entityItem));
    byId("merges-list").replaceChildren(...names.slice(0, SHOWN).map(mergeItem));
    byId("known-names").replaceChildren(...entities.map(({ name }) => make("option", { value: name })));
  } catch (problem) {
    show(problem);
  }
}

function entityItem({ name, type, mentions, aliases, description }) {
  const note = [type, `${number(mentions)} ×`, aliases.length ? `also ${aliases.join(", ")}` : ""];
  return make("li", { title: description }, make("a", { href: entityAddress(byId("corpus").value, name) }, name), " ", make("span", { class: "note" }, note.filter(Boolean).join(" · ")));
}

function mergeItem({ key, name, entity_name: entity, why, apart }) {
  const undo = () => change("DELETE", "splits", key, undefined, `The rules decide about ${name} again.`);
  const split = () => change("PUT", "splits", key, undefined, `${name} is a name of its own now.`);
  const byHand = apart || why === "by hand";
  const [words, action] = byHand ? ["Undo", undo] : ["Keep apart", split];
  return make(
    "li",
    {},
    apart ? `${name} is kept apart` : `${name} → ${entity}`,
    " ",
    make("span", { class: "note" }, why ?? ""),
    " ",
    mayWrite ? make("button", { type: "button", "aria-label": `${words}: ${name}`, onclick: action }, words) : null,
  );
}

async function change(method, part, name, body, done) {
  clear();
  try {
    await call(method, inCorpus(byId("corpus").value, part, name), { body });
    for (const id of ["merge-name", "merge-into", "split-name"]) byId(id).value = "";
    await list();
    byId("names-note").focus();
    announce(done);
  } catch (problem) {
    show(problem);
  }
}
