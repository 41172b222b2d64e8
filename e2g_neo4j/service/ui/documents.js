// Documents of a corpus: the list and deletion.

import { documentAddress, goTo, viewAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { byId, counted, make, makeTime, number } from "./dom.js";
import { offerRows } from "./downloads.js";
import { setUpLayers, showLayers } from "./layers.js";
import { setUpNames, showNames } from "./names.js";
import { clear, show } from "./problems.js";
import { showSharing } from "./sharing.js";
import { shownIn, sign } from "./tasks.js";
import { setUpUpload } from "./upload.js";

const PAGE = 25;
const SIGNS = { ready: "✓", pending: "○", indexing: "◐", failed: "✕" };

let pages = [null]; // the cursors of the pages so far; the last is that of the page on the screen
let following = null;
let latest = 0; // the number of the last request for a list
let opened = 0; // the number of the last address
let reloadCorpora;

let caller = { scopes: [] };
let mayWrite = false;
let listed = ""; // the corpus of the list
const chosen = new Map(); // titles of the documents that are to be compared, by id

/** Offer what changes a corpus only to a caller who may. */
export function showWriting(found) {
  caller = found;
  mayWrite = caller.scopes.includes("write");
  byId("upload").hidden = !mayWrite;
  byId("page-form").hidden = !caller.pages;
}

/** Set up the view. `reload` loads the corpora again. */
export function setUpDocuments(reload) {
  reloadCorpora = reload;
  byId("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  for (const id of ["corpus", "state", "order"]) {
    byId(id).addEventListener("change", () => {
      if (id === "corpus") byId("upload-corpus").value = byId("corpus").value;
      goTo(viewAddress("documents", place()));
    });
  }
  byId("earlier").addEventListener("click", () => listPage(pages.slice(0, -1)));
  byId("later").addEventListener("click", () => listPage([...pages, following]));
  byId("delete-corpus").addEventListener("click", deleteCorpus);
  byId("compare").addEventListener("click", () => goTo(viewAddress("documents", { ...place(), both: [...chosen.keys()] })));
  setUpLayers();
  setUpNames();
  setUpUpload(refresh);
}

const place = () => ({ corpus: byId("corpus").value, state: byId("state").value, order: byId("order").value });

/** Show the documents of the corpus that an address names, of that which is chosen, or of the first. */
export async function showDocuments({ corpus: named, params }) {
  const mine = ++opened;
  try {
    const corpora = await call("GET", "/corpora");
    if (mine !== opened) return; // another address was opened meanwhile
    const corpus = named ?? byId("corpus").value;
    if (named || params.has("state")) for (const id of ["state", "order"]) byId(id).value = params.get(id) ?? "";
    byId("corpus").replaceChildren(...corpora.map(({ corpus }) => make("option", { value: corpus }, corpus)));
    byId("known-corpora").replaceChildren(...corpora.map(({ corpus }) => make("option", { value: corpus })));
    const there = corpora.some((one) => one.corpus === corpus);
    if (there) byId("corpus").value = corpus;
    else if (named) show({ title: `There is no corpus “${named}”, or not any more.`, detail: "", next: "Choose another one." });
    byId("upload-corpus").value ||= byId("corpus").value;
    await listPage([null]);
    showNames(mayWrite);
    showLayers(caller);
    await showSharing(byId("corpus").value, there ? params : new URLSearchParams(), () => mine === opened);
  } catch (problem) {
    show(problem);
  }
}

async function refresh() {
  clear();
  await reloadCorpora(); // this shows the documents too
}

async function listPage(cursors) {
  const mine = ++latest;
  const corpus = byId("corpus").value;
  byId("delete-corpus").hidden = !corpus || !mayWrite;
  if (listed !== corpus) chosen.clear();
  listed = corpus;
  offerRows("documents-downloads", "Documents", corpus && (() => everyDocument(corpus)));
  if (!corpus) {
    byId("documents").replaceChildren();
    byId("documents").hidden = true;
    byId("documents-note").textContent = mayWrite ? "There is no corpus yet. Upload documents to make one." : "There is no corpus that this key may read.";
    return;
  }
  try {
    const query = { ...filter(), limit: PAGE, cursor: cursors.at(-1) };
    const { documents, cursor } = await call("GET", inCorpus(corpus, "documents"), { query });
    if (mine !== latest) return; // another list was asked for meanwhile, perhaps of another corpus
    pages = cursors;
    following = cursor;
    render(corpus, documents);
  } catch (problem) {
    show(problem);
  }
}

const filter = () => ({ state: byId("state").value, newest: byId("order").value === "newest" || null });

async function everyDocument(corpus) {
  const found = [];
  let cursor = null;
  do {
    const page = await call("GET", inCorpus(corpus, "documents"), { query: { ...filter(), limit: 1000, cursor } });
    found.push(...page.documents);
    cursor = page.cursor;
  } while (cursor);
  return found;
}

function render(corpus, documents) {
  const more = pages.length > 1 || following;
  byId("documents-note").textContent = documents.length
    ? `${counted(documents.length, "document")}${more ? ` on page ${pages.length}` : ""}.`
    : "No documents.";
  byId("documents").hidden = !documents.length;
  const head = (name) => make("th", { scope: "col", class: name === "Characters" || name === "Chunks" ? "number" : null }, name);
  const heads = ["Compare", "Title", "State", "Language", "Characters", "Chunks", "Last change", ...(mayWrite ? ["Action"] : [])].map(head);
  byId("documents").replaceChildren(
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...documents.map((document) => row(corpus, document))),
    ),
  );
  showChosen();
  byId("pages").hidden = !more;
  byId("earlier").disabled = pages.length < 2;
  byId("later").disabled = !following;
}

/** Offer to compare when two documents are chosen. */
function showChosen() {
  byId("comparison").hidden = byId("documents").hidden;
  byId("compare").disabled = chosen.size !== 2;
  const titles = [...chosen.values()].map((one) => `“${one}”`).join(", ");
  byId("chosen-note").textContent = chosen.size ? `Chosen: ${titles}.${chosen.size > 2 ? " Choose two." : ""}` : "Choose two documents to see what they share.";
}

function row(corpus, document) {
  const { id, title, source, state, why, visible, characters, chunks, losses, language, changed } = document;
  const choose = (event) => {
    if (event.target.checked) chosen.set(id, title);
    else chosen.delete(id);
    showChosen();
  };
  const fresh = viewAddress("documents", { ...place(), new: id });
  const remove = () => deleteDocument(corpus, document, cell);
  const cell = make("td", { class: "task" }, make("button", { type: "button", "aria-label": `Delete ${title}`, onclick: remove }, "Delete"));
  const notes = [why, visible && state !== "ready" ? "An earlier version can be asked." : "", ...losses].filter(Boolean);
  return make(
    "tr",
    {},
    make("td", {}, visible ? make("input", { type: "checkbox", "aria-label": `Compare ${title}`, checked: chosen.has(id), onchange: choose }) : ""),
    make("th", { scope: "row" }, visible ? make("a", { href: documentAddress(corpus, id) }, title) : title, make("span", { class: "note source" }, source)),
    make(
      "td",
      {},
      make("span", { class: `state ${state}` }, sign(SIGNS[state]), state),
      ...notes.map((note) => make("span", { class: "note source" }, note)),
    ),
    make("td", {}, language ?? "–"),
    make("td", { class: "number" }, visible ? number(characters) : "–"),
    make("td", { class: "number" }, number(chunks)),
    make("td", {}, makeTime(changed), visible ? make("a", { class: "source", href: fresh, "aria-label": `What is new with ${title}` }, "What is new") : ""),
    mayWrite ? cell : null,
  );
}

// --- deletion ---

async function deleteDocument(corpus, { id, title }, cell) {
  const sure = await confirmed(`Delete “${title}”?`, `It disappears from the corpus ${corpus}, with everything that only it contributed. This cannot be undone.`);
  if (!sure) return;
  clear();
  try {
    const task = await call("DELETE", inCorpus(corpus, "documents", id));
    const focused = cell.contains(document.activeElement);
    await shownIn(cell, task, focused);
    const here = cell.contains(document.activeElement) || document.activeElement === document.body;
    await refresh();
    if (here) byId("documents-title").focus();
  } catch (problem) {
    show(problem);
  }
}

async function deleteCorpus() {
  const corpus = byId("corpus").value;
  const sure = await confirmed(`Delete the corpus “${corpus}”?`, "All of its documents disappear, with everything that was made of them. This cannot be undone.");
  if (!sure) return;
  clear();
  const button = byId("delete-corpus");
  const cell = byId("corpus-action");
  try {
    await shownIn(cell, await call("DELETE", inCorpus(corpus)), true);
    cell.replaceChildren(button);
    await refresh();
    byId("documents-title").focus();
  } catch (problem) {
    cell.replaceChildren(button);
    show(problem);
  }
}

export function confirmed(title, text) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  return new Promise((resolve) => {
    let sure = false;
    byId("confirm-yes").onclick = () => {
      sure = true;
      dialog.close();
    };
    byId("confirm-no").onclick = () => dialog.close();
    dialog.onclose = () => resolve(sure);
    dialog.showModal();
    byId("confirm-no").focus();
  });
}
