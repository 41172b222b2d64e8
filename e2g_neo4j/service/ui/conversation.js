// The conversation: earlier turns are shown above the result and sent with the next question. They are kept in memory,
// and in the history of the tab, so that reloading and going back restore them.

import { goTo, viewAddress } from "./address.js";
import { byId, counted, make, shortened } from "./dom.js";
import { renderMarkdown } from "./markdown.js";

const SENT = 5; // the latest turns, which the service considers
const CHARACTERS = 1000; // of their answers
const SHOWN = 20; // turns
const EXCERPT = 300; // characters of an answer that are shown

let turns = [];
let latest = null; // the turn whose answer is still shown as the result

export function setUpConversation() {
  byId("new-conversation").addEventListener("click", () => {
    goTo(viewAddress("ask"));
    startAnew();
    byId("question").value = "";
    byId("question").focus();
  });
}

/** Begin a conversation, or go on with one after these turns. */
export function startAnew(earlier = []) {
  turns = earlier;
  latest = null;
  showTurns();
}

/** Return all turns before the question that is asked. */
export const turnsBefore = () => turns;

/** Keep what was answered. Without a chat model there is only evidence. */
export function keepTurn(question, evidence, answer) {
  const text = answer ?? "";
  const shown = text ? shortened(text, EXCERPT) : `${counted(evidence.passages.length, "passage")} found.`;
  latest = { asked: question, shown, question: evidence.searched_as || question, answer: text.slice(0, CHARACTERS) };
  showTurns();
}

/** Move the turn up that is still shown as the result, and return the turns to send. */
export function earlierTurns() {
  if (latest) turns = [...turns, latest].slice(-SHOWN);
  latest = null;
  showTurns();
  return turns.slice(-SENT).map(({ question, answer }) => ({ question, answer }));
}

const plain = (text) => renderMarkdown(text, (part) => [part]);

function showTurns() {
  byId("conversation").hidden = !turns.length && !latest;
  byId("turns").replaceChildren(
    ...turns.map(({ asked, shown }) => make("li", {}, make("p", {}, asked), make("div", { class: "note" }, ...plain(shown)))),
  );
}
