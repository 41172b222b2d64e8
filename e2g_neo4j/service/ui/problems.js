// Errors, shown at the top of the page.

import { byId, make } from "./dom.js";

let askForKey = () => {};

/** Call this when a request needs another key. */
export const onMissingKey = (handler) => {
  askForKey = handler;
};

/** Show an error with what to do about it. A request that was stopped is none. */
export function show(problem) {
  if (problem.name === "AbortError") return;
  if (problem.status === 401) {
    askForKey();
    return;
  }
  const title = problem.title ?? "The page failed.";
  const detail = problem.detail ?? problem.message;
  byId("problems").replaceChildren(
    make(
      "div",
      { class: "problem" },
      make("p", {}, make("strong", {}, title), detail ? ` ${detail}` : ""),
      problem.next ? make("p", {}, problem.next) : null,
      problem.requestId ? make("p", { class: "note" }, `Request ${problem.requestId}`) : null,
      make("button", { type: "button", onclick: clear }, "Dismiss"),
    ),
  );
}

export function clear() {
  byId("problems").replaceChildren();
}
