// The evidence graph: entities, the chunks that mention them, and what links them.

import { counted, make, makeSvg, shortened } from "./dom.js";
import { drawNetwork } from "./network.js";
import { show } from "./problems.js";

const MOST_DRAWN = 150;

/** Draw the graph of an explanation. `labels` has the passages of each chunk. */
export function drawGraph(panel, { nodes, relationships }, labels, open) {
  const graph = graphOf(nodes, relationships, labels);
  if (!graph.nodes.length) {
    panel.replaceChildren(make("p", { class: "empty" }, "There is no evidence to draw."));
    return;
  }
  const drawn = mostLinked(graph);
  const entities = graph.nodes.filter((node) => node.kind === "entity");
  const words = `${counted(entities.length, "entity").replace("entitys", "entities")}, ${counted(
    graph.nodes.length - entities.length,
    "passage",
  )} and ${counted(graph.edges.length, "link")}`;
  const left = graph.nodes.length - drawn.nodes.length;
  const canvas = make("div", { class: "canvas", role: "img", "aria-label": `Graph of ${words}. The table below has the same.` });
  panel.replaceChildren(
    make("h3", { class: "hidden" }, "Evidence graph"),
    canvas,
    make("p", { class: "note legend" }, ...legend()),
    left ? make("p", { class: "note" }, `${left} nodes with the fewest links are only in the table.`) : "",
    make("details", {}, make("summary", {}, "Show as a table"), table(graph, open)),
  );
  draw(canvas, drawn, open).catch(show);
}

function graphOf(nodes, relationships, labels) {
  const kept = new Map();
  const passages = new Map();
  for (const { id, labels: kinds, properties } of nodes) {
    if (kinds.includes("Entity")) {
      kept.set(id, { id, kind: "entity", name: properties.name, type: properties.type, near: new Set() });
    } else if (labels.has(properties.id)) {
      const found = labels.get(properties.id);
      const kind = properties.level ? "summary" : "chunk";
      const same = JSON.stringify([kind, found.map(({ place }) => place)]); // a passage of several chunks is one node
      if (!passages.has(same)) passages.set(same, { id, kind, passages: found, name: passageNames(found), near: new Set() });
      kept.set(id, passages.get(same));
    }
  }
  const edges = new Map();
  for (const { type, start, end, properties } of relationships) {
    const [from, to] = [kept.get(start), kept.get(end)];
    if (type === "CHILD_OF" || !from || !to || from === to) continue;
    const same = JSON.stringify([type, from.id, to.id]);
    const edge = edges.get(same) ?? { type, from, to, count: 0 };
    edge.count += properties.count ?? 0;
    edges.set(same, edge);
    from.near.add(to);
    to.near.add(from);
  }
  return { nodes: [...new Set(kept.values())], edges: [...edges.values()] };
}

const passageNames = (found) => found.map(({ n }) => n).filter(Boolean).join(", ") || "·";

function mostLinked({ nodes, edges }) {
  const drawn = nodes.toSorted((a, b) => b.near.size - a.near.size).slice(0, MOST_DRAWN);
  const chosen = new Set(drawn);
  return { nodes: drawn, edges: edges.filter(({ from, to }) => chosen.has(from) && chosen.has(to)) };
}

async function draw(canvas, { nodes, edges }, open) {
  const drawn = await drawNetwork(
    canvas,
    nodes.map(({ id, name, kind }) => ({ data: { id, label: shortened(name, 22), colour: "entity" }, classes: kind })),
    edges.map(({ from, to, type, count }) => ({
      data: { source: from.id, target: to.id, sentences: type === "CO_OCCURS" ? count : 0 },
      classes: type === "CO_OCCURS" ? "" : "mention",
    })),
  );
  drawn.on("tap", ".chunk, .summary", ({ target }) => {
    const { passages } = nodes.find(({ id }) => id === target.id());
    open(passages[0].passage, canvas.closest("[role=tabpanel]").querySelector("summary"));
  });
}

const describe = (type, count) =>
  type === "CO_OCCURS" ? `together in ${counted(count ?? 0, "sentence")}` : `mentioned ${count === 1 ? "once" : `${count} times`}`;

function legend() {
  const key = (shape, words) => [
    makeSvg("svg", { viewBox: "0 0 26 16", class: "sample", "aria-hidden": "true" }, shape),
    `${words} `,
  ];
  return [
    ...key(makeSvg("circle", { cx: 13, cy: 8, r: 6 }), "entity"),
    ...key(makeSvg("rect", { x: 3, y: 2, width: 20, height: 12, rx: 2 }), "passage, with its number, or a letter if the chat model did not read it; without a line it mentions no entity of the question"),
    ...key(makeSvg("line", { x1: 2, y1: 8, x2: 24, y2: 8 }), "in the same sentence"),
    ...key(makeSvg("line", { x1: 2, y1: 8, x2: 24, y2: 8, class: "mention" }), "mentions"),
  ];
}

function table({ nodes, edges }, open) {
  const name = (node) => {
    if (!node.passages) return [node.type ? `${node.name} (${node.type})` : node.name];
    return node.passages.map(({ passage, n }) => {
      const label = n ? `Passage ${n}` : "Passage";
      return make("button", { type: "button", class: "link", onclick: (event) => open(passage, event.currentTarget) }, `${label}, ${passage.document}`);
    });
  };
  const rows = edges.map(({ type, from, to, count }) =>
    make("tr", {}, make("td", {}, ...name(from)), make("td", {}, describe(type, count)), make("td", {}, ...name(to))),
  );
  const alone = nodes.filter((node) => !node.near.size);
  rows.push(...alone.map((node) => make("tr", {}, make("td", {}, ...name(node)), make("td", {}, "no link"), make("td", {}))));
  const heads = ["From", "Link", "To"].map((one) => make("th", { scope: "col" }, one));
  return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Evidence graph as a table" },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
  );
}
