// The page: its views, the key, and the list of corpora.

import { readAddress } from "./address.js";
import { call, hasKey, setKey } from "./api.js";
import { openQuestion, setUpAsking, showCorpora } from "./ask.js";
import { setUpCompare, showCompare } from "./compare.js";
import { setUpDocuments, showDocuments, showWriting } from "./documents.js";
import { byId } from "./dom.js";
import { setUpExplore, showExplore } from "./explore.js";
import { showPlace } from "./passage.js";
import { clear, onMissingKey, show } from "./problems.js";
import { hideTasks, setUpTasks, showTasks } from "./tasks.js";

const TITLES = { ask: "Ask", explore: "Explore", documents: "Documents", compare: "Compare", tasks: "Tasks", text: "Text" };

let loaded = false; // whether the corpora are known, without which no question is asked
let shownView = "";

const currentView = () => readAddress(location.hash).view ?? "ask";

function showView() {
  if (location.hash === "#main") return; // the link that skips the navigation
  const place = readAddress(location.hash);
  const view = currentView();
  for (const name of Object.keys(TITLES)) byId(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${TITLES[view]} · E2G`;
  if (shownView && shownView !== view) byId(`${view}-title`).focus();
  shownView = view;
  clear();
  hideTasks();
  if (!place.view) show({ title: "Nothing has this address.", detail: "", next: "Ask a question here, or go to Explore or Documents." });
  else if (view === "ask" && loaded) openQuestion(place);
  else if (view === "explore") showExplore(place);
  else if (view === "documents") showDocuments(place);
  else if (view === "compare" && loaded) showCompare(place);
  else if (view === "tasks") showTasks();
  else if (view === "text") showPlace(byId("place"), place);
}

async function loadCorpora() {
  try {
    const [corpora, caller] = await Promise.all([call("GET", "/corpora"), call("GET", "/caller")]);
    showWriting(caller);
    closeKey();
    showCorpora(corpora);
    loaded = true;
    showView();
    return true;
  } catch (problem) {
    show(problem);
    return false;
  }
}

// --- the key ---

function openKey(message) {
  byId("key-panel").hidden = false;
  byId("key-button").setAttribute("aria-expanded", "true");
  byId("key-note").textContent =
    message ?? "The key stays in the memory of this tab. Reloading the page forgets it.";
  byId("key").toggleAttribute("aria-invalid", false);
  byId("key").focus();
}

function closeKey() {
  byId("key-panel").hidden = true;
  byId("key-button").setAttribute("aria-expanded", "false");
  byId("key-button").textContent = hasKey() ? "API key: in use" : "API key";
  byId("key-forget").hidden = !hasKey();
}

onMissingKey(() => {
  const refused = hasKey();
  openKey(
    refused
      ? "The service refuses this key: it is wrong, expired or revoked. Enter another one. Its administrator makes them (e2g keys create)."
      : "This service needs an API key. Its administrator makes one (e2g keys create). It stays in the memory of this tab.",
  );
  if (refused) byId("key").setAttribute("aria-invalid", "true");
});

byId("key-button").addEventListener("click", () => {
  if (byId("key-panel").hidden) openKey();
  else closeKey();
});

byId("key-panel").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  closeKey();
  byId("key-button").focus();
});

byId("key-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  clear();
  setKey(byId("key").value);
  if (await loadCorpora()) {
    byId("key").value = "";
    byId(currentView() === "ask" ? "question" : `${currentView()}-title`).focus();
  }
});

byId("key-forget").addEventListener("click", () => {
  setKey("");
  sessionStorage.clear();
  location.reload(); // nothing that the key showed stays
});

// --- start ---

setUpAsking();
setUpCompare();
setUpExplore();
setUpDocuments(loadCorpora);
setUpTasks();
window.addEventListener("hashchange", showView);
showView();
loadCorpora();
