// Documents of a corpus: list, upload and deletion.

import { documentAddress, goTo, viewAddress } from "./address.js";
import { call, inCorpus, upload } from "./api.js";
import { byId, counted, make, number } from "./dom.js";
import { setUpNames, showNames } from "./names.js";
import { clear, show } from "./problems.js";
import { follow, sign, taskState } from "./tasks.js";

const PAGE = 25;
const SIGNS = { ready: "✓", pending: "○", indexing: "◐", failed: "✕" };

let pages = [null]; // the cursors of the pages so far; the last is that of the page on the screen
let following = null;
let latest = 0; // the number of the last request for a list
let opened = 0; // the number of the last address
let reloadCorpora;

let mayWrite = true;

/** Offer what changes a corpus only to a caller who may. */
export function showWriting(allowed) {
  mayWrite = allowed;
  byId("upload").hidden = !allowed;
}

/** Set up the view. `reload` loads the corpora again. */
export function setUpDocuments(reload) {
  reloadCorpora = reload;
  byId("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  for (const id of ["corpus", "state"]) {
    byId(id).addEventListener("change", () => {
      if (id === "corpus") byId("upload-corpus").value = byId("corpus").value;
      goTo(viewAddress("documents", { corpus: byId("corpus").value, state: byId("state").value }));
    });
  }
  byId("earlier").addEventListener("click", () => listPage(pages.slice(0, -1)));
  byId("later").addEventListener("click", () => listPage([...pages, following]));
  byId("delete-corpus").addEventListener("click", deleteCorpus);
  setUpNames();
  setUpUpload();
}

/** Show the documents of the corpus that an address names, of that which is chosen, or of the first. */
export async function showDocuments({ corpus: named, params }) {
  const mine = ++opened;
  try {
    const corpora = await call("GET", "/corpora");
    if (mine !== opened) return; // another address was opened meanwhile
    const chosen = named ?? byId("corpus").value;
    if (named || params.has("state")) byId("state").value = params.get("state") ?? "";
    byId("corpus").replaceChildren(...corpora.map(({ corpus }) => make("option", { value: corpus }, corpus)));
    byId("known-corpora").replaceChildren(...corpora.map(({ corpus }) => make("option", { value: corpus })));
    if (corpora.some(({ corpus }) => corpus === chosen)) byId("corpus").value = chosen;
    else if (named) show({ title: `There is no corpus “${named}”, or not any more.`, detail: "", next: "Choose another one." });
    byId("upload-corpus").value ||= byId("corpus").value;
    await listPage([null]);
    showNames(mayWrite);
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
  if (!corpus) {
    byId("documents").replaceChildren();
    byId("documents").hidden = true;
    byId("documents-note").textContent = mayWrite ? "There is no corpus yet. Upload documents to make one." : "There is no corpus that this key may read.";
    return;
  }
  try {
    const query = { state: byId("state").value, limit: PAGE, cursor: cursors.at(-1) };
    const { documents, cursor } = await call("GET", inCorpus(corpus, "documents"), { query });
    if (mine !== latest) return; // another list was asked for meanwhile, perhaps of another corpus
    pages = cursors;
    following = cursor;
    render(corpus, documents);
  } catch (problem) {
    show(problem);
  }
}

function render(corpus, documents) {
  const more = pages.length > 1 || following;
  byId("documents-note").textContent = documents.length
    ? `${counted(documents.length, "document")}${more ? ` on page ${pages.length}` : ""}.`
    : "No documents.";
  byId("documents").hidden = !documents.length;
  const head = (name) => make("th", { scope: "col", class: name === "Characters" || name === "Chunks" ? "number" : null }, name);
  const heads = ["Title", "State", "Characters", "Chunks", ...(mayWrite ? ["Action"] : [])].map(head);
  byId("documents").replaceChildren(
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...documents.map((document) => row(corpus, document))),
    ),
  );
  byId("pages").hidden = !more;
  byId("earlier").disabled = pages.length < 2;
  byId("later").disabled = !following;
}

function row(corpus, document) {
  const { id, title, source, state, why, visible, characters, chunks, losses } = document;
  const remove = () => deleteDocument(corpus, document, cell);
  const cell = make("td", { class: "task" }, make("button", { type: "button", "aria-label": `Delete ${title}`, onclick: remove }, "Delete"));
  const notes = [why, visible && state !== "ready" ? "An earlier version can be asked." : "", ...losses].filter(Boolean);
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, visible ? make("a", { href: documentAddress(corpus, id) }, title) : title, make("span", { class: "note source" }, source)),
    make(
      "td",
      {},
      make("span", { class: `state ${state}` }, sign(SIGNS[state]), state),
      ...notes.map((note) => make("span", { class: "note source" }, note)),
    ),
    make("td", { class: "number" }, visible ? number(characters) : "–"),
    make("td", { class: "number" }, number(chunks)),
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

/** Show a task in an element until it has succeeded, also after retries. */
function shownIn(element, task, focused) {
  return new Promise((resolve, reject) => {
    let latest = 0;
    const run = (from) => {
      latest += 1;
      const mine = latest;
      follow(from, (now) => {
        if (mine !== latest) return;
        const inside = focused || element.contains(document.activeElement);
        focused = false;
        element.replaceChildren(...taskState(now, run));
        if (inside) element.querySelector("button")?.focus();
      }).then((ended) => {
        if (mine === latest && ended.state === "succeeded") resolve();
      }, reject);
    };
    run(task);
  });
}

// --- upload ---

function setUpUpload() {
  const [form, files, drop] = [byId("upload-form"), byId("files"), byId("drop")];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(byId("upload-corpus").value.trim(), [...files.files]);
    files.value = "";
  });
  for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", over);
      if (name === "drop" && event.dataTransfer.files.length) files.files = event.dataTransfer.files;
    });
  }
}

async function send(corpus, files) {
  clear();
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  const names = files.length > 3 ? `${files[0].name} and ${files.length - 1} more` : files.map((one) => one.name).join(", ");
  const controller = new AbortController();
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Upload of ${names}` });
  const percent = make("span", { class: "note" }, "sending");
  const cancel = make("button", { type: "button", onclick: () => controller.abort() }, "Cancel");
  const status = make("div", { class: "task" }, bar, percent, cancel);
  const item = make("li", {}, make("p", {}, make("strong", {}, names), ` → ${corpus}`), status);
  byId("uploads").prepend(item);
  try {
    const progress = (share) => {
      bar.value = share;
      percent.textContent = share < 1 ? `sending, ${Math.round(100 * share)} %` : "sent, being stored";
    };
    const task = await upload(inCorpus(corpus, "documents"), form, { progress, signal: controller.signal });
    await shownIn(status, task, false);
    await refresh();
  } catch (problem) {
    const stopped = problem.name === "AbortError";
    status.replaceChildren(make("span", { class: stopped ? "note" : "error" }, sign(stopped ? "–" : "✕"), stopped ? "Cancelled." : `Failed. ${problem.message}`));
    show(problem);
  }
}
