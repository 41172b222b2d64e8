// Explore: names of a corpus, what it tells about one, its neighbourhood as a graph, the sentences of a link, communities.

import { communityAddress, documentAddress, entityAddress, goTo, viewAddress } from "./address.js";
import { call, inCorpus } from "./api.js";
import { announce, byId, counted, make, makeSvg, number, shortened } from "./dom.js";
import { offerRows } from "./downloads.js";
import { renderMarkdown } from "./markdown.js";
import { drawNetwork } from "./network.js";
import { show } from "./problems.js";
import { quoteItems } from "./quotes.js";

const LISTED = 50; // names
const TYPES = ["person", "place", "organisation", "group", "event", "work", "name", "noun"]; // that have a colour

let latest = 0; // the number of the last address that was opened
let drawn = ""; // what the card and the graph show
let graph = null;
let communities = null; // those of the names in the graph, on one level; null: the corpus has none
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
    if (drawn) hideLightLinks();
  });
  byId("colours").addEventListener("change", () => {
    here.open.colours = byId("colours").value;
    history.replaceState(history.state, "", entityAddress(here.corpus, here.name, here.open));
    if (drawn) colour();
  });
  byId("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId("statement").textContent);
    announce("Copied.");
  });
}

/** Show what an address names: a corpus, a search, a community, or an entity, with a link that is open. */
export async function showExplore({ corpus: named, kind, name, params }) {
  const mine = ++latest;
  try {
    const corpora = (await call("GET", "/corpora")).map(({ corpus }) => corpus);
    if (mine !== latest) return;
    const corpus = named ?? (corpora.includes(byId("explore-corpus").value) ? byId("explore-corpus").value : corpora[0]);
    byId("explore-corpus").replaceChildren(...corpora.map((one) => make("option", { value: one }, one)));
    const there = corpora.includes(corpus);
    if (there) byId("explore-corpus").value = corpus;
    byId("explore-name").value = (kind === "entities" ? name : params.get("q")) ?? "";
    byId("entity").hidden = byId("community").hidden = true;
    byId("found").replaceChildren();
    offerRows("found-downloads");
    if (!there) {
      byId("explore-note").textContent = corpora.length ? `There is no corpus “${corpus}”, or not any more. Choose another one.` : "There is no corpus yet.";
    } else if (kind === "communities") {
      await showCommunity(corpus, name, () => mine === latest);
    } else if (name) {
      const open = { with: params.get("with"), from: params.get("from"), more: params.getAll("more"), weight: params.get("weight"), colours: params.get("colours") };
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
  offerRows("found-downloads", "Names", found.length && (() => entities(corpus, q, 1000)));
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

/** Return the entities that the service takes a name for that nothing is called by. */
async function suggestions(corpus, name) {
  if (!name.trim()) return [];
  const { entities: keys } = await call("POST", "/retrieve", { body: { question: name, corpora: [corpus], k: 1 } });
  const found = await Promise.all(keys.map((key) => entities(corpus, key, LISTED)));
  return keys.flatMap((key, place) => found[place].filter((one) => one.key === key));
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
    showCard(corpus, card, around[0]);
    await drawNeighbourhood(around);
    drawn = same;
  }
  byId("entity").hidden = false;
  byId("weight").value = open.weight ?? 0;
  byId("colours").value = open.colours === "communities" ? open.colours : "";
  colour();
  hideLightLinks();
  byId("pair").hidden = !open.with;
  if (open.with) await showPair(current);
  else byId("entity-name").focus();
}

function showCard(corpus, { entity, source, documents, linked }, { key, communities: near }) {
  const { name, type, mentions, aliases, forms, description } = entity;
  const others = [...new Set([...aliases, ...Object.keys(forms)])].filter((one) => one !== name);
  const most = Math.max(...documents.map((one) => one.mentions));
  const more = entity.documents - documents.length;
  const home = near?.find(({ keys }) => keys.includes(key));
  const part = (title, ...inside) => [make("h4", {}, title), ...inside];
  byId("entity-card").replaceChildren(
    make("h3", { id: "entity-name", tabindex: "-1" }, dot(type), name),
    note([type, `mentioned ${number(mentions)} × in ${counted(entity.documents, "document")}`]),
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
    ...(home ? part("Community", make("p", {}, make("a", { href: communityAddress(corpus, home.id) }, home.title))) : []),
    ...(linked.length ? part("In your graph", make("ul", {}, ...linked.map((one) => make("li", {}, one.name, " ", note([one.labels.join(", "), one.method]))))) : []),
    make("p", {}, make("a", { href: viewAddress("ask", { q: `Who or what is ${name}?`, corpus }) }, `Ask about ${name}`)),
  );
}

const bar = (share) =>
  makeSvg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "share", "aria-hidden": "true" }, makeSvg("rect", { width: Math.max(1, 100 * share), height: 10 }));

const dot = (type) =>
  makeSvg("svg", { viewBox: "0 0 10 10", class: `dot type-${TYPES.includes(type) ? type : "other"}`, "aria-hidden": "true" }, makeSvg("circle", { cx: 5, cy: 5, r: 5 }));

// --- a community ---

async function showCommunity(corpus, id, current) {
  const found = await call("GET", inCorpus(corpus, "communities", id)).catch((problem) => (problem.status === 404 ? null : Promise.reject(problem)));
  if (!current()) return;
  byId("explore-note").textContent = found ? "" : `This community of ${corpus} is not there, or not any more: they are made again when documents change. Search for a name.`;
  if (!found) return;
  const { title, level, text, entities: size, members, within, parts } = found;
  const link = (one) => make("a", { href: communityAddress(corpus, one.id) }, one.title);
  const more = size - members.length;
  byId("community").hidden = false;
  byId("community").replaceChildren(
    make("h3", { id: "community-title", tabindex: "-1" }, title),
    note([`Community of ${counted(size, "name")}`, `level ${level}`]),
    make("div", { class: "prose" }, ...renderMarkdown(text, (part) => [part])),
    ...(within ? [make("h4", {}, "Part of"), make("p", {}, link(within))] : []),
    ...(parts.length ? [make("h4", {}, "Parts"), make("ul", {}, ...parts.map((one) => make("li", {}, link(one))))] : []),
    make("h4", {}, "Names"),
    make("ul", { class: "found" }, ...members.map(({ name, type, chunks }) => make("li", {}, dot(type), make("a", { href: entityAddress(corpus, name) }, name), " ", note([type, counted(chunks, "chunk")])))),
    more > 0 ? note([`and ${counted(more, "other name")}`]) : "",
  );
  byId("community-title").focus();
}

// --- its neighbourhood ---

async function drawNeighbourhood(around) {
  const [centre] = around;
  const nodes = new Map();
  const links = new Map();
  const addNode = ({ key, name, type }) => nodes.has(key) || nodes.set(key, { id: key, name, label: shortened(name, 24), type });
  const addLink = (a, b, { weight, sentences }) => links.set([a, b].sort().join("\n"), { source: a, target: b, weight, sentences });
  for (const one of around) {
    for (const node of [one, ...one.neighbours]) addNode(node);
    for (const node of one.neighbours) addLink(one.key, node.key, node);
    for (const link of one.links) addLink(link.a, link.b, link);
  }
  communities = around[0].communities && joined(around.flatMap((one) => one.communities));
  const data = [...links.values()];
  byId("weight").max = new Set(data.map(({ weight }) => weight)).size - 1;
  showTable(centre, nodes, data);
  const rows = data.map(({ source, target, weight, sentences }) => ({ a: nodes.get(source).name, b: nodes.get(target).name, weight, sentences }));
  offerRows("neighbours-downloads", "Neighbours", rows.length && (() => rows));
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

/** Return the communities of the finest level that has a colour for each, those with most names of the graph first. */
function joined(found) {
  const byId = Map.groupBy(found, ({ id }) => id);
  const each = [...byId.values()].map((same) => ({ ...same[0], keys: new Set(same.flatMap(({ keys }) => keys)) }));
  const levels = [...Map.groupBy(each, ({ level }) => level).values()].sort(([a], [b]) => a.level - b.level);
  const chosen = levels.find((one) => one.length <= TYPES.length) ?? levels.at(-1) ?? [];
  return chosen.sort((a, b) => b.keys.size - a.keys.size);
}

/** Colour the names by their types or communities, and say which is which. What has no colour of its own has the last. */
function colour() {
  const byCommunity = byId("colours").value === "communities";
  const places = communities?.map(({ keys }, place) => [keys, TYPES[place] ?? "other"]) ?? [];
  const colourOf = (node) => (byCommunity ? places.find(([keys]) => keys.has(node.id()))?.[1] : TYPES.find((one) => one === node.data("type"))) ?? "other";
  for (const node of graph.nodes()) node.data("colour", `type-${colourOf(node)}`);
  graph.style().update();
  const types = [...new Set(graph.nodes().map(colourOf))];
  const titles = (communities ?? []).slice(0, TYPES.length).map(({ id, title }, place) => legendItem(TYPES[place], make("a", { href: communityAddress(here.corpus, id) }, title)));
  const none = `The corpus has no communities. Make them under Documents, or with: e2g enrich --corpus ${quoted(here.corpus)} --with communities`;
  byId("legend").replaceChildren(
    ...(!byCommunity ? types.map((type) => legendItem(type, type)) : communities ? [...titles, ...(types.includes("other") ? [legendItem("other", "others")] : [])] : [none]),
  );
}

const legendItem = (type, words) => make("span", { class: "choice" }, dot(type), words);

const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`); // for a shell

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
  byId("pair-sentences").replaceChildren(...quoteItems(corpus, found ?? [], [nameOf(a), nameOf(b)]));
  offerRows("pair-downloads", "Sentences", found?.length && (() => found));
  byId("pair-title").focus();
}
