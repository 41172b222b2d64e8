// The conversation, which the service keeps: its turns, their ratings, and the list of all conversations of the key.

import { conversationAddress, goTo, viewAddress } from "./address.js";
import { call, download, inCorpus } from "./api.js";
import { confirmed } from "./documents.js";
import { announce, byId, counted, make, shortened } from "./dom.js";
import { renderMarkdown } from "./markdown.js";
import { clear, show } from "./problems.js";

const SENT = 5; // the latest turns, which the service considers
const CHARACTERS = 1000; // of their answers
const EXCERPT = 300; // characters of an answer that are shown
const LISTED = 200; // conversations, which are all
const DRAFT = "question"; // the only thing that this page keeps in the storage of the tab

let id = ""; // of the conversation; empty until its first turn is kept
let turns = [];
let next = 0; // the number of the next turn
let open = null; // the turn whose answer is shown as the result
const unkept = new Set(); // turns that the service does not have yet

export function setUpConversation(corpora) {
  byId("new-conversation").addEventListener("click", () => {
    sessionStorage.removeItem(DRAFT);
    goTo(viewAddress("ask"));
    startAnew();
    byId("question").value = "";
    byId("question").focus();
  });
  byId("question").addEventListener("input", () => sessionStorage.setItem(DRAFT, byId("question").value));
  byId("history").addEventListener("toggle", () => byId("history").open && listConversations());
  for (const rating of ["up", "down"]) {
    byId(`rate-${rating}`).addEventListener("click", () => rate(rating));
    byId(`rated-${rating}`).addEventListener("click", () => exportRatings(corpora(), rating));
  }
}

/** Return what was typed and not asked yet. It survives a reload, in this tab only. */
export const draft = () => sessionStorage.getItem(DRAFT);

export const forgetDraft = () => sessionStorage.removeItem(DRAFT);

/** Begin a conversation. */
export function startAnew() {
  [id, turns, next, open] = ["", [], 0, null];
  unkept.clear();
  showTurns();
}

/** Return the address of the question that is shown, as the history of the tab keeps it. */
export const placeInHistory = (question, number) => ({ question, conversation: id, turn: number });

/** Go on with a conversation that is kept. Returns the turn with a number, or the last one, or undefined. */
export async function resume(conversation, number) {
  const found = await call("GET", `/conversations/${encodeURIComponent(conversation)}`);
  unkept.clear();
  [id, turns, next] = [conversation, found.turns, found.info.turns];
  open = turns.find((one) => one.number === Number(number ?? next - 1)) ?? turns.at(-1);
  showTurns();
  byId("kept-note").textContent = found.hidden ? `${counted(found.hidden, "turn")} not shown: this key may not read the corpora any more.` : "";
  return open;
}

/** Begin a question, in the place of a turn or as the next one. Returns its number, and the earlier turns to send. */
export function beginTurn(number = next) {
  open = null;
  byId("kept-note").textContent = "";
  showTurns(number);
  const earlier = turns.filter((one) => one.number < number).slice(-SENT);
  return [number, earlier.map((one) => ({ question: one.searched_as || one.question, answer: one.answer.slice(0, CHARACTERS) }))];
}

/** Keep what was answered. If that fails, the answer stays on the page, with a button to try again. */
export async function keepTurn(turn) {
  turns = [...turns.filter(({ number }) => number !== turn.number), turn].sort((a, b) => a.number - b.number);
  next = Math.max(next, turn.number + 1);
  open = turn;
  unkept.add(turn);
  showTurns();
  showRating();
  try {
    const told = await send();
    if (open !== turn) return;
    byId("kept-note").textContent = told;
    if (history.state?.question === turn.question) history.replaceState(placeInHistory(turn.question, turn.number), "");
    showTurns();
    if (byId("history").open) listConversations();
  } catch (problem) {
    if (problem.status === 401) show(problem);
    const again = make("button", { type: "button", class: "link", onclick: () => keepTurn(turn) }, "Keep it");
    if (open === turn) byId("kept-note").replaceChildren(`This turn is not kept. ${problem.detail || problem.title} ${problem.next} `, again);
  }
}

/** Send the turns that the service does not have yet. Returns what there is to tell about that. */
async function send() {
  id ||= newId();
  try {
    await sendAll();
    return "";
  } catch (problem) {
    const changed = problem.code === "conversation_changed";
    if (!changed && problem.code !== "conversation_not_found") throw problem;
    const there = changed ? await call("GET", `/conversations/${id}`) : { info: { turns: 0 }, turns: [] };
    if (!changed) id = newId();
    [...unkept].forEach((one, place) => Object.assign(one, { number: there.info.turns + place }));
    [turns, next] = [[...there.turns, ...unkept], there.info.turns + unkept.size];
    await sendAll();
    return changed
      ? "The conversation went on elsewhere: this turn is its last one now."
      : "The conversation is not there any more, or is another key's: this turn begins a new one.";
  }
}

async function sendAll() {
  for (const turn of unkept) {
    await call("PUT", `/conversations/${id}/turns/${turn.number}`, { body: turn });
    unkept.delete(turn);
  }
}

const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, "0")).join("");

async function rate(rating) {
  open.rating = open.rating === rating ? null : rating;
  await keepTurn(open);
  announce(open.rating ? `Rated ${open.rating === "up" ? "good" : "bad"}.` : "Rating removed.");
}

export function showRating() {
  for (const one of ["up", "down"]) byId(`rate-${one}`).setAttribute("aria-pressed", String(open?.rating === one));
}

const plain = (text) => renderMarkdown(text, (part) => [part]);

/** Show the turns, but for the last one while its answer is shown below, or is being written. */
function showTurns(asked = open?.number) {
  const shown = turns.filter(({ number }) => number !== asked || number !== turns.at(-1)?.number);
  byId("conversation").hidden = !turns.length;
  byId("turns").replaceChildren(
    ...shown.map(({ number, question, answer }) =>
      make(
        "li",
        {},
        make("p", {}, make("a", { href: conversationAddress(id, number), "aria-current": number === asked && "true" }, question)),
        make("div", { class: "note" }, ...(answer ? plain(shortened(answer, EXCERPT)) : ["Evidence only."])),
      ),
    ),
  );
}

// --- all conversations ---

async function listConversations() {
  try {
    const found = await call("GET", "/conversations", { query: { limit: LISTED } });
    byId("history-note").textContent = found.length ? `${counted(found.length, "conversation")}, the last first.` : "There is none yet.";
    byId("kept").replaceChildren(...found.map(entry));
  } catch (problem) {
    show(problem);
  }
}

function entry(info) {
  const title = info.title ?? "Conversation about corpora that this key cannot read";
  const link = make("a", { href: conversationAddress(info.id) }, title);
  const note = [counted(info.turns, "turn"), new Date(info.updated).toLocaleString("en"), info.corpora.join(", ")];
  const button = (name, onclick) => make("button", { type: "button", "aria-label": `${name} ${title}`, onclick }, name);
  const item = make(
    "li",
    {},
    link,
    make("span", { class: "note" }, ` ${note.filter(Boolean).join(" · ")} `),
    button("Rename", () => rename(info, title, link)),
    button("Export", () => attempt(() => download(`/conversations/${info.id}/markdown`, {}, "conversation.md"))),
    button("Delete", () => remove(info, title)),
  );
  return item;
}

/** Let the title be edited in its place. Enter keeps it, Escape does not. */
function rename(info, title, link) {
  const field = make("input", { value: title, maxlength: 200, required: true, "aria-label": "Title" });
  const form = make("form", { class: "rename" }, field, make("button", { type: "submit" }, "Save"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await call("PUT", `/conversations/${info.id}`, { body: { title: field.value.trim() } });
      await listConversations();
      byId("kept").querySelector(`[href="${conversationAddress(info.id)}"]`)?.focus();
    });
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    form.replaceWith(link);
    link.focus();
  });
  link.replaceWith(form);
  field.select();
}

async function remove(info, title) {
  if (!(await confirmed(`Delete “${title}”?`, "The service forgets its questions, answers and ratings. This cannot be undone."))) return;
  attempt(async () => {
    await call("DELETE", `/conversations/${info.id}`);
    await listConversations();
    byId("history").querySelector("summary").focus();
    if (info.id === id) byId("new-conversation").click();
  });
}

const exportRatings = (corpora, rating) =>
  attempt(async () => {
    for (const corpus of corpora) await download(inCorpus(corpus, "ratings"), { rating }, `${corpus}-${rating}.jsonl`);
  });

async function attempt(action) {
  clear();
  try {
    await action();
  } catch (problem) {
    show(problem);
  }
}
