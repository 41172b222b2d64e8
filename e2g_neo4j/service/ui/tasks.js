// Tasks: what changes a corpus, with its progress.

import { call } from "./api.js";
import { byId, counted, make, makeTime, number, pause } from "./dom.js";
import { offerRows } from "./downloads.js";
import { clear, show } from "./problems.js";

const POLL = 1500; // milliseconds between two looks at a task
const ENDED = ["succeeded", "failed", "cancelled"];
const KINDS = { index: "Index documents", replace: "Replace a document", delete: "Delete documents", delete_corpus: "Delete the corpus", import: "Import an archive", enrich: "Make layers", adopt: "Adopt text nodes", unadopt: "Undo an adoption", link: "Link entities", unlink: "Remove links" };
const REPORTING = ["index", "replace", "adopt"]; // kinds with a report, which lists leave out
const SIGNS = { queued: "○", running: "◐", succeeded: "✓", failed: "✕", cancelled: "–" };

let watching = 0;
let cursor = null;
const rows = new Map();

const hasEnded = (task) => ENDED.includes(task.state);

/** Call `update` with a task until it has ended, and return it then. It goes on while the service is away. */
export async function follow(task, update) {
  let now = task;
  update(now);
  while (!hasEnded(now)) {
    await pause(POLL);
    try {
      now = await call("GET", `/tasks/${now.id}`);
    } catch (problem) {
      if (problem.status && problem.status < 500 && problem.status !== 429) throw problem;
      continue;
    }
    update(now);
  }
  return now;
}

/** Show a task in an element until it has succeeded, also after retries. */
export function shownIn(element, task, focused) {
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

/** Make the state of a task with its progress and the buttons to cancel or retry it. */
function taskState(task, changed) {
  const parts = [make("span", { class: `state ${task.state}` }, sign(SIGNS[task.state]), task.state)];
  if (task.state === "running") {
    const amount = task.total ? { max: task.total, value: task.done } : {};
    const stage = task.stage ?? "starting";
    parts.push(make("progress", { "aria-label": `Progress: ${stage}`, ...amount }));
    parts.push(make("span", { class: "note" }, task.total ? `${stage}, ${number(task.done)} of ${number(task.total)}` : stage));
  }
  if (task.state === "succeeded" && task.result) parts.push(make("span", { class: "note" }, outcome(task.result)), ...remarks(task.result));
  if (task.error) parts.push(make("span", { class: "error" }, task.error.detail ?? task.error.code));
  const name = `${KINDS[task.kind] ?? task.kind}, ${task.corpus}`;
  const button = (label, method, path) => action(`${label}: ${name}`, label, () => call(method, `/tasks/${task.id}${path}`), changed);
  if (!hasEnded(task)) parts.push(button("Cancel", "POST", "/cancel"));
  if (task.state === "failed" || task.state === "cancelled") parts.push(button("Retry", "POST", "/retry"));
  if (task.state === "succeeded" && !task.result && REPORTING.includes(task.kind)) parts.push(button("Result", "GET", ""));
  return parts;
}

export const sign = (text) => make("span", { class: "sign", "aria-hidden": "true" }, text);

function outcome(result) {
  const said = [];
  if (typeof result.documents === "number") said.push(counted(result.documents, "document"));
  if (result.replaced) said.push(`${number(result.replaced)} replaced`);
  if (result.unchanged) said.push(`${number(result.unchanged)} unchanged`);
  return said.join(", ");
}

/** Say what was left out and why, what looks wrong, and what is not in the texts. */
function remarks({ failed, warnings, losses }) {
  const list = (label, reasons, kind) => {
    const said = Object.values(reasons ?? {});
    if (!said.length) return [];
    const items = said.map((one) => make("li", {}, one));
    return [make("details", { open: said.length <= 5 ? "" : null, class: kind }, make("summary", {}, label(said.length)), make("ul", {}, ...items))];
  };
  const lost = Object.fromEntries(Object.entries(losses ?? {}).map(([source, what]) => [source, `${source}: ${what.join("; ")}`]));
  return [
    ...list((count) => `${counted(count, "source")} left out`, failed, "error"),
    ...list((count) => counted(count, "warning"), warnings, "note"),
    ...list((count) => `not in the text of ${counted(count, "document")}`, lost, "note"),
  ];
}

function action(name, label, request, changed) {
  const onclick = async (event) => {
    event.currentTarget.disabled = true;
    clear();
    try {
      changed(await request());
    } catch (problem) {
      event.target.disabled = false;
      show(problem);
    }
  };
  return make("button", { type: "button", "aria-label": name, onclick }, label);
}

// --- the list ---

export function setUpTasks() {
  byId("tasks-refresh").addEventListener("click", () => showTasks());
  byId("tasks-more").addEventListener("click", () => load(cursor, false).catch(show));
}

export function hideTasks() {
  watching += 1;
}

/** Show the newest tasks, and follow those that have not ended while the list is on the screen. */
export async function showTasks() {
  watching += 1; // ends the loop of an earlier call, also while this one loads
  try {
    await load(null, true);
    await watch();
  } catch (problem) {
    show(problem);
  }
}

async function watch() {
  watching += 1;
  const mine = watching;
  while ([...rows.values()].some(({ task }) => !hasEnded(task))) {
    await pause(POLL);
    if (mine !== watching) return;
    const { tasks } = await call("GET", "/tasks");
    if (mine === watching) tasks.forEach((task) => put(task));
  }
}

async function load(from, anew) {
  const page = await call("GET", "/tasks", { query: { cursor: from } });
  cursor = page.cursor;
  if (anew) {
    rows.clear();
    const heads = ["Task", "Corpus", "Created", "State"].map((one) => make("th", { scope: "col" }, one));
    byId("tasks").replaceChildren(
      make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {})),
    );
    byId("tasks").hidden = !page.tasks.length;
    byId("tasks-note").textContent = page.tasks.length ? "" : "There are no tasks. Ended tasks are kept for 7 days.";
  }
  page.tasks.forEach((task) => put(task, { atEnd: true }));
  byId("tasks-more").hidden = !cursor;
  offerRows("tasks-downloads", "Tasks", rows.size && (() => [...rows.values()].map(({ task }) => task)));
}

/** Add a task to the list, or show what has changed. New tasks that appear while one looks come first. */
function put(listed, { atEnd = false } = {}) {
  const known = rows.get(listed.id);
  const task = listed.state === "succeeded" ? { ...listed, result: listed.result ?? known?.task.result } : listed;
  if (known && JSON.stringify(known.task) === JSON.stringify(task)) return;
  const cell = known?.cell ?? make("td", { class: "task" });
  const focused = cell.contains(document.activeElement);
  const changed = (now) => {
    put(now);
    watch().catch(show);
  };
  cell.replaceChildren(...taskState(task, changed));
  if (focused) (cell.querySelector("button") ?? byId("tasks")).focus();
  rows.set(task.id, { task, cell });
  if (known) return;
  const row = make(
    "tr",
    {},
    make("th", { scope: "row" }, KINDS[task.kind] ?? task.kind),
    make("td", {}, task.corpus),
    make("td", {}, makeTime(task.created)),
    cell,
  );
  const body = byId("tasks").querySelector("tbody");
  if (atEnd) body.append(row);
  else body.prepend(row);
}
