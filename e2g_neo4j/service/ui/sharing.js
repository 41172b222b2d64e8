// What a document brought into its corpus, and what two documents share.

import { entityAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { byId, counted, make, makeTime, number } from "./dom.js";
import { offerRows } from "./downloads.js";
import { show } from "./problems.js";
import { quoteItems } from "./quotes.js";

const NAMES = 50;
const OPENED = 3; // names whose sentences are shown at once
const QUOTES = 3; // of a name in a document

let shown = "";

/** Show what the parameters of an address ask for: `new`, a document, or `both`, two of them. */
export async function showSharing(corpus, params, current) {
  const [fresh, both] = [params.get("new"), params.getAll("both").slice(0, 2)];
  const ids = fresh ? [fresh] : both.length === 2 ? both : [];
  byId("sharing").hidden = !ids.length;
  if (!ids.length) {
    shown = "";
    return;
  }
  const [names, ...documents] = await Promise.all([
    call("GET", inCorpus(corpus, "shared-entities"), { query: { document: ids, only: Boolean(fresh), limit: NAMES } }),
    ...ids.map((id) => call("GET", inCorpus(corpus, "documents", id))),
  ]).catch((problem) => (problem.status === 404 ? [null] : Promise.reject(problem)));
  if (!current()) return;
  byId("sharing-note").textContent = names ? "" : "This document is not there, or not any more. Choose another one in the list.";
  byId("sharing-title").textContent = !names ? "Documents" : fresh ? `New with “${documents[0].title}”` : `“${documents[0].title}” and “${documents[1].title}”`;
  byId("sharing-text").replaceChildren(...(!names ? [] : fresh ? brought(corpus, documents[0], names) : shared(corpus, documents, names)));
  offerRows("sharing-downloads", "Names", names?.length && (() => names));
  const same = JSON.stringify([corpus, ids]);
  if (shown !== same) byId("sharing-title").focus(); // not when the list is refreshed
  shown = same;
}

const amount = (names) => `${counted(names.length, "name")}${names.length === NAMES ? " or more" : ""}`;

const entity = (corpus, { name, type, mentions }) => [
  make("a", { href: entityAddress(corpus, name) }, name),
  " ",
  make("span", { class: "note" }, [type, `${number(mentions)} ×`].filter(Boolean).join(" · ")),
];

function brought(corpus, { changed, losses }, names) {
  return [
    make("p", {}, "Last change: ", makeTime(changed)),
    make("h4", {}, "What its file has and its text has not"),
    losses.length ? make("ul", {}, ...losses.map((one) => make("li", {}, one))) : make("p", {}, "Nothing that is known."),
    make("h4", {}, "Names that no other document has"),
    make("p", { class: "note" }, names.length ? amount(names) : "None."),
    make("ul", { class: "found" }, ...names.map((one) => make("li", {}, ...entity(corpus, one)))),
  ];
}

function shared(corpus, documents, names) {
  const item = (one, place) => {
    const list = make("ol", { class: "evidence" });
    const load = async () => {
      if (list.childElementCount) return;
      const quotes = (id) => call("GET", inCorpus(corpus, "sentences"), { query: { a: one.name, document: id, limit: QUOTES } });
      const found = (await Promise.all(documents.map(({ id }) => quotes(id)))).flat();
      list.replaceChildren(...(found.length ? quoteItems(corpus, found, [one.name, ...one.aliases]) : [make("li", {}, "No whole sentence.")]));
    };
    const details = make("details", { ontoggle: () => details.open && load().catch(show), open: place < OPENED }, make("summary", {}, `Sentences with ${one.name}`), list);
    return make("li", {}, ...entity(corpus, one), details);
  };
  return [
    make("p", { class: "note" }, names.length ? `${amount(names)} in both, the rarest first.` : "No name is in both."),
    make("ul", { class: "shared" }, ...names.map(item)),
  ];
}
