// Layers of a corpus: what there is, and a task that makes more.

import { call, inCorpus } from "./api.js";
import { byId, make, number } from "./dom.js";
import { clear, show } from "./problems.js";
import { shownIn } from "./tasks.js";

const LAYERS = {
  sentences: "vectors of sentences",
  communities: "communities of names",
  clusters: "clusters of text",
  entities: "vectors of names",
  descriptions: "descriptions of names",
};
const BY_CHAT = { statements: "statements, by the chat model", typed: "typed graph, of the statements" };

/** Set up the card. */
export function setUpLayers() {
  byId("layers").addEventListener("toggle", () => byId("layers").open && count());
  byId("layers-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    clear();
    const layers = [...byId("layers-choice").querySelectorAll("input:checked")].map((one) => one.value);
    try {
      await shownIn(byId("layers-task"), await call("POST", inCorpus(byId("corpus").value, "enrich"), { body: { layers } }), false);
      await count();
    } catch (problem) {
      show(problem);
    }
  });
}

/** Show the layers of the corpus that is chosen to a caller who may make them. */
export function showLayers({ scopes, chat }) {
  byId("layers").hidden = !byId("corpus").value || !scopes.includes("write");
  byId("layers-task").replaceChildren();
  const box = ([layer, words]) => make("label", { class: "choice" }, make("input", { type: "checkbox", value: layer, checked: layer in LAYERS }), words);
  byId("layers-choice").replaceChildren(...Object.entries({ ...LAYERS, ...(chat ? BY_CHAT : {}) }).map(box));
  if (byId("layers").open) count();
}

async function count() {
  const corpus = byId("corpus").value;
  try {
    const { communities, clusters, statements, entities, entity_vectors: vectors } = await call("GET", inCorpus(corpus));
    if (corpus !== byId("corpus").value) return;
    const parts = [`Communities: ${number(communities)}`, `clusters: ${number(clusters)}`, `statements: ${number(statements)}`];
    byId("layers-note").textContent = `${parts.join(", ")}, vectors of names: ${number(vectors)} of ${number(entities)}.`;
  } catch (problem) {
    show(problem);
  }
}
