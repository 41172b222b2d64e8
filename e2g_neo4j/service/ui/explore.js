// Explore: names of a corpus, what it tells about one, its neighbourhood as a graph, and the sentences of a link.

import { documentAddress, entityAddress, goTo, viewAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { announce, byId, counted, make, makeSvg, number, shortened, span } from "./dom.js";
import { marked, termsOf } from "./excerpt.js";
import { drawNetwork } from "./network.js";
import { show } from "./problems.js";

const LISTED = 50; // names
const SUGGESTED = 5;
const TYPES = ["person", "place", "organisation", "group", "event", "work", "name", "noun"]; // that have a colour

let latest = 0; // the number of the last address that was opened
let drawn = ""; // what the card and the graph show
let graph = null;
let here = null; // {corpus, name, open}: the entity, and what else its address has

export function setUpExplore() {
  byId("explore-form").addEventListener("submit", (event) => {
    event.preventDefault();
    goTo(viewAddress("explore", { corpus: byId("explore-corpus").value, q: byId("explore-name").value.trim() }));
  });
  byId("explore-corpus").addEventListener("change", () => goTo(viewAddress("explore", { corpus: byId("explore-corpus").value })));
  byId("weight").addEventListener("input", () => {
    here.open.weight = Number(byId("weight").value) || null;
    history.replaceState(history.state, "", entityAddress(here.corpus, here.name, here.open));
    hideLightLinks();
  });
  byId("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId("statement").textContent);
    announce("Copied.");
  });
}

/** Show what an address names: a corpus, a search, or an entity, with a link that is open. */
export async function showExplore({ corpus: named, name, params }) {
  const mine = ++latest;
  try {
    const corpora = (await call("GET", "/corpora")).map(({ corpus }) => corpus);
    if (mine !== latest) return;
    const corpus = named ?? (corpora.includes(byId("explore-corpus").value) ? byId("explore-corpus").value : corpora[0]);
    byId("explore-corpus").replaceChildren(...corpora.map((one) => make("option", { value: one }, one)));
    const there = corpora.includes(corpus);
    if (there) byId("explore-corpus").value = corpus;
    byId("explore-name").value = name ?? params.get("q") ?? "";
    byId("entity").hidden = true;
    byId("found").replaceChildren();
    if (!there) {
      byId("explore-note").textContent = corpora.length ? `There is no corpus “${corpus}”, or not any more. Choose another one.` : "There is no corpus yet.";
    } else if (name) {
      const open = { with: params.get("with"), from: params.get("from"), more: params.getAll("more"), weight: params.get("weight") };
      await showEntity({ corpus, name, open }, () => mine === latest);
    } else {
      await search(corpus, params.get("q") ?? "", () => mine === latest);
    }
  } catch (problem) {
    if (mine === latest) show(problem);
  }
}

// --- names ---

async function search(corpus, q, current) {
  const found = await entities(corpus, q, LISTED);
  const near = found.length ? [] : await suggestions(corpus, q);
  if (!current()) return;
  const many = found.length === LISTED ? " or more, those in most passages first" : "";
  byId("explore-note").textContent = found.length ? `${counted(found.length, "name")}${many}.` : notFound(q, corpus, near);
  list(corpus, [...found, ...near]);
}

const entities = (corpus, q, limit) => call("GET", inCorpus(corpus, "entities"), { query: { q, limit } });

const notFound = (name, corpus, near) => `Nothing in ${corpus} is called “${name}”${near.length ? ". Did you mean:" : ", or not any more."}`;

const list = (corpus, found) =>
  byId("found").replaceChildren(
    ...found.map(({ name, type, mentions }) =>
      make("li", {}, dot(type), make("a", { href: entityAddress(corpus, name) }, name), " ", note([type, `${number(mentions)} ×`])),
    ),
  );

const note = (parts) => make("span", { class: "note" }, parts.filter(Boolean).join(" · "));

/** Return names like one that is not there: those that begin as one of its words, by the pairs of letters they share. */
async function suggestions(corpus, name) {
  const words = name.split(/\s+/).filter((word) => word.length > 2).sort((a, b) => b.length - a.length).slice(0, 3);
  const found = await Promise.all(words.map((word) => entities(corpus, word.slice(0, Math.max(3, word.length - 3)), LISTED)));
  const pairs = (text) => new Set(Array.from(text.toLowerCase(), (one, at) => text.toLowerCase().slice(at, at + 2)).slice(0, -1));
  const mine = pairs(name);
  const alike = (other) => (2 * [...pairs(other)].filter((one) => mine.has(one)).length) / (pairs(other).size + mine.size);
  const known = [...new Map(found.flat().map((one) => [one.key, one])).values()];
  return known.sort((a, b) => alike(b.name) - alike(a.name)).slice(0, SUGGESTED);
}

// --- an entity ---

async function showEntity(place, current) {
  const { corpus, name, open } = place;
  here = place;
  const same = JSON.stringify([corpus, name, open.more]);
  if (drawn !== same) {
    drawn = "";
    const neighbourhood = (one) => call("GET", inCorpus(corpus, "neighbourhood", one));
    const found = await Promise.all([call("GET", inCorpus(corpus, "entities", name)), ...[name, ...open.more].map(neighbourhood)]).catch(
      (problem) => (problem.status === 404 ? null : Promise.reject(problem)),
    );
    const near = found ? [] : await suggestions(corpus, name);
    if (!current()) return;
    if (!found) {
      byId("explore-note").textContent = notFound(name, corpus, near);
      list(corpus, near);
      return;
    }
    const [card, ...around] = found;
    byId("explore-note").textContent = "";
    byId("entity").hidden = false;
    showCard(corpus, card);
    await drawNeighbourhood(around);
    drawn = same;
  }
  byId("entity").hidden = false;
  byId("weight").value = open.weight ?? 0;
  hideLightLinks();
  byId("pair").hidden = !open.with;
  if (open.with) await showPair(current);
  else byId("entity-name").focus();
}

function showCard(corpus, { entity, source, documents, community, linked }) {
  const { name, type, mentions, aliases, forms, description } = entity;
  const others = [...new Set([...aliases, ...Object.keys(forms)])].filter((one) => one !== name);
  const most = Math.max(...documents.map((one) => one.mentions));
  const more = entity.documents - documents.length;
  const part = (title, ...inside) => [make("h4", {}, title), ...inside];
  byId("entity-card").replaceChildren(
    make("h3", { id: "entity-name", tabindex: "-1" }, dot(type), name),
    note([type, `mentioned ${number(mentions)} × in ${counted(entity.documents, "document")}`, community]),
    description ? make("p", {}, description, " ", source ? make("a", { href: documentAddress(corpus, source.document, source.start) }, source.title) : "") : "",
    ...(others.length ? part("Also called", make("p", {}, others.join(", "))) : []),
    ...part(
      "Mentions",
      make(
        "ul",
        { class: "mentions" },
        ...documents.map(({ document, title, mentions: count }) =>
          make("li", {}, make("a", { href: documentAddress(corpus, document) }, title), bar(count / most), make("span", {}, number(count))),
        ),
      ),
      more > 0 ? note([`and ${counted(more, "other document")}`]) : "",
    ),
    ...(linked.length ? part("In your graph", make("ul", {}, ...linked.map((one) => make("li", {}, one.name, " ", note([one.labels.join(", "), one.method]))))) : []),
    make("p", {}, make("a", { href: viewAddress("ask", { q: `Who or what is ${name}?`, corpus }) }, `Ask about ${name}`)),
  );
}

const bar = (share) =>
  makeSvg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "share", "aria-hidden": "true" }, makeSvg("rect", { width: Math.max(1, 100 * share), height: 10 }));

const typeName = (type) => (TYPES.includes(type) ? type : "other");

const dot = (type) =>
  makeSvg("svg", { viewBox: "0 0 10 10", class: `dot type-${typeName(type)}`, "aria-hidden": "true" }, makeSvg("circle", { cx: 5, cy: 5, r: 5 }));

// --- its neighbourhood ---

async function drawNeighbourhood(around) {
  const [centre] = around;
  const nodes = new Map();
  const links = new Map();
  const addNode = ({ key, name, type }) => nodes.has(key) || nodes.set(key, { id: key, name, label: shortened(name, 24), type, colour: `type-${typeName(type)}` });
  const addLink = (a, b, { weight, sentences }) => links.set([a, b].sort().join("\n"), { source: a, target: b, weight, sentences });
  for (const one of around) {
    for (const node of [one, ...one.neighbours]) addNode(node);
    for (const node of one.neighbours) addLink(one.key, node.key, node);
    for (const link of one.links) addLink(link.a, link.b, link);
  }
  const types = [...new Set([...nodes.values()].map(({ type }) => typeName(type)))];
  byId("types").replaceChildren(...types.flatMap((type) => [dot(type), `${type} `]));
  const data = [...links.values()];
  byId("weight").max = new Set(data.map(({ weight }) => weight)).size - 1;
  showTable(centre, nodes, data);
  const { cypher, parameters } = centre;
  const statement = cypher.replace(/^\/\/.*\n/gm, "").replace(/\$(\w+)/g, (_, name) => JSON.stringify(parameters[name]));
  byId("statement").textContent = statement;

  graph = await drawNetwork(
    byId("canvas"),
    [...nodes.values()].map((data, at) => ({ data, classes: at ? "" : "centre" })),
    [...links.values()].map((link) => ({ data: link })),
  );
  graph.on("tap", "node", ({ target, originalEvent }) => {
    if (originalEvent.shiftKey) goTo(withNeighboursOf(target.id()));
    else goTo(entityAddress(here.corpus, target.data("name")));
  });
  graph.on("tap", "edge", ({ target }) => goTo(linkAddress(centre.key, target.data())));
}

const withNeighboursOf = (key) => entityAddress(here.corpus, here.name, { ...here.open, more: [...new Set([...here.open.more, key])] });

/** Return the address that shows the sentences of a link. Unless the centre is one of its ends, it names both. */
function linkAddress(centre, { source, target }) {
  const [from, to] = target === centre ? [target, source] : [source, target];
  return entityAddress(here.corpus, here.name, { ...here.open, from: from === centre ? null : from, with: to });
}

/** Hide the links that the slider leaves out, in the graph and in the table, and the names that only they link. */
function hideLightLinks() {
  const weights = [...new Set(graph.edges().map((edge) => edge.data("weight")))].sort((a, b) => a - b);
  const least = weights[byId("weight").value] ?? 0;
  byId("weight-shown").textContent = number(Math.round(least * 100) / 100);
  graph.batch(() => {
    for (const edge of graph.edges()) edge.toggleClass("light", edge.data("weight") < least);
    for (const node of graph.nodes()) node.toggleClass("light", !node.hasClass("centre") && node.connectedEdges().every((edge) => edge.hasClass("light")));
  });
  for (const row of byId("neighbours").querySelectorAll("tbody tr")) row.hidden = Number(row.dataset.weight) < least;
}

/** Show the links as a table: those of the centre, then, folded, those between others. */
function showTable(centre, nodes, links) {
  const name = (key) => make("a", { href: entityAddress(here.corpus, nodes.get(key).name) }, nodes.get(key).name);
  const row = (link, ...cells) => make("tr", { "data-weight": link.weight }, ...cells.map((one) => make("td", {}, ...[one].flat())));
  const sentences = (link, words) => make("a", { href: linkAddress(centre.key, link), "aria-label": `${counted(link.sentences, "sentence")} with ${words}` }, counted(link.sentences, "sentence"));
  const ofCentre = links.filter(({ source, target }) => [source, target].includes(centre.key));
  const others = links.filter((link) => !ofCentre.includes(link));
  const table = (heads, rows) => make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((one) => make("th", { scope: "col" }, one)))), make("tbody", {}, ...rows));
  byId("neighbours").replaceChildren(
    table(
      ["Name", "Type", "Together in", "Graph"],
      ofCentre.map((link) => {
        const key = link.source === centre.key ? link.target : link.source;
        const node = nodes.get(key);
        const add = make("a", { href: withNeighboursOf(key), "aria-label": `Add the neighbours of ${node.name}` }, "Add neighbours");
        return row(link, name(key), [dot(node.type), node.type ?? ""], sentences(link, node.name), add);
      }),
    ),
    others.length
      ? make("details", {}, make("summary", {}, `${counted(others.length, "link")} between the others`), table(
          ["Name", "Name", "Together in"],
          others.map((link) => row(link, name(link.source), name(link.target), sentences(link, `${nodes.get(link.source).name} and ${nodes.get(link.target).name}`))),
        ))
      : "",
  );
}

// --- the sentences of a link ---

async function showPair(current) {
  const { corpus, name, open } = here;
  const [a, b] = [open.from ?? name, open.with];
  const nameOf = (key) => graph.getElementById(key).data("name") ?? key;
  byId("pair-title").textContent = `${nameOf(a)} and ${nameOf(b)}`;
  byId("pair-note").textContent = "Loading …";
  byId("pair-sentences").replaceChildren();
  const found = await call("GET", inCorpus(corpus, "sentences"), { query: { a, b } }).catch((problem) =>
    problem.status === 404 ? null : Promise.reject(problem),
  );
  if (!current()) return;
  const none = found ? "No sentence has both names." : `Nothing in ${corpus} is called “${b}”, or not any more. Choose a name in the table.`;
  byId("pair-note").textContent = found?.length ? `${counted(found.length, "sentence")} with both names.` : none;
  const terms = termsOf("", [nameOf(a), nameOf(b)]);
  byId("pair-sentences").replaceChildren(
    ...(found ?? []).map(({ document, title, start, end, text }) =>
      make(
        "li",
        { class: "card" },
        make("blockquote", {}, ...marked(text, terms)),
        make("p", { class: "note" }, `${title} · ${span(start, end)}`),
        make("a", { href: documentAddress(corpus, document, start), "aria-label": `Open in the text: ${shortened(text, 60)}` }, "Open in the text"),
      ),
    ),
  );
  byId("pair-title").focus();
}
