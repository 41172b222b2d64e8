// The evidence graph: entities, the chunks that mention them, and what links them.

import { counted, make, makeSvg, shortened } from "./dom.js";

const WIDTH = 640;
const HEIGHT = 460;
const SHELF = 44; // height of a row of chunks without links, below the graph
const PER_SHELF = 14;
const MARGIN = 44;
const ROUNDS = 300;
const MOST_DRAWN = 150;

/** Draw the graph of an explanation. `labels` has the passages of each chunk. */
export function drawGraph(panel, { nodes, relationships }, labels, open) {
  const graph = graphOf(nodes, relationships, labels);
  if (!graph.nodes.length) {
    panel.replaceChildren(make("p", { class: "empty" }, "There is no evidence to draw."));
    return;
  }
  const drawn = mostLinked(graph);
  const linked = drawn.nodes.filter((node) => node.near.size);
  const alone = drawn.nodes.filter((node) => !node.near.size);
  const height = linked.length ? HEIGHT : 0;
  if (linked.length) arrange(linked, drawn.edges);
  alone.forEach((node, place) => {
    const [column, row] = [place % PER_SHELF, Math.floor(place / PER_SHELF)];
    Object.assign(node, { x: MARGIN + (column * (WIDTH - 2 * MARGIN)) / (PER_SHELF - 1), y: height + (row + 0.5) * SHELF });
  });
  drawn.height = height + Math.ceil(alone.length / PER_SHELF) * SHELF;
  const entities = graph.nodes.filter((node) => node.kind === "entity");
  const words = `${counted(entities.length, "entity").replace("entitys", "entities")}, ${counted(
    graph.nodes.length - entities.length,
    "passage",
  )} and ${counted(graph.edges.length, "link")}`;
  const left = graph.nodes.length - drawn.nodes.length;
  panel.replaceChildren(
    make("h3", { class: "hidden" }, "Evidence graph"),
    picture(drawn, words, open),
    make("p", { class: "note legend" }, ...legend()),
    alone.length && linked.length ? make("p", { class: "note" }, "The passages in the last row mention no entity of the question.") : "",
    left ? make("p", { class: "note" }, `${left} nodes with the fewest links are only in the table.`) : "",
    make("details", {}, make("summary", {}, "Show as a table"), table(graph, open)),
  );
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

/** Place the nodes by the forces of Fruchterman and Reingold. The same graph is always drawn the same way. */
function arrange(nodes, edges) {
  const ideal = 0.8 * Math.sqrt((WIDTH * HEIGHT) / nodes.length);
  nodes.forEach((node, place) => {
    const [angle, radius] = [place * 2.4, 12 * Math.sqrt(place + 0.5)]; // a sunflower: evenly spread, no two together
    Object.assign(node, { x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0 });
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    nodes.forEach((a, place) => {
      for (const b of nodes.slice(place + 1)) {
        const [x, y] = [a.x - b.x, a.y - b.y];
        const names = a.kind === "entity" && b.kind === "entity" ? 3 : 1; // names need room
        push(a, b, x, y, (names * ideal ** 2) / Math.max(x * x + y * y, 1));
      }
      push(a, { dx: 0, dy: 0 }, a.x, a.y * 1.3, -0.12); // towards the middle, more so vertically
    });
    for (const { from, to } of edges) {
      const [x, y] = [from.x - to.x, from.y - to.y];
      push(from, to, x, y, -Math.hypot(x, y) / ideal);
    }
    const longest = 30 * (1 - round / ROUNDS) + 0.5;
    for (const node of nodes) {
      const step = Math.min(1, longest / (Math.hypot(node.dx, node.dy) || 1));
      node.x += node.dx * step;
      node.y += node.dy * step;
      node.dx = node.dy = 0;
    }
  }
  fit(nodes);
}

function push(a, b, x, y, force) {
  a.dx += x * force;
  a.dy += y * force;
  b.dx -= x * force;
  b.dy -= y * force;
}

function fit(nodes) {
  for (const [axis, size] of [["x", WIDTH], ["y", HEIGHT]]) {
    const [low, high] = [Math.min(...nodes.map((one) => one[axis])), Math.max(...nodes.map((one) => one[axis]))];
    const scale = Math.min(2.5, (size - 2 * MARGIN) / (high - low || 1));
    for (const node of nodes) node[axis] = size / 2 + (node[axis] - (low + high) / 2) * scale;
  }
}

function picture({ nodes, edges, height }, words, open) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "graph", role: "img", "aria-label": `Graph of ${words}. The table below has the same.` });
  const lines = edges.map((edge) => {
    const { from, to, type, count } = edge;
    const line = makeSvg(
      "line",
      { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: type === "CO_OCCURS" ? "together" : "mention" },
      makeSvg("title", {}, describe(type, count)),
    );
    return { edge, line };
  });
  const shapes = nodes.map((node) => {
    const group = makeSvg("g", { class: `node ${node.kind}`, transform: `translate(${node.x} ${node.y})` });
    group.append(...shapeOf(node));
    if (node.passages) group.onclick = () => open(node.passages[0].passage, svg.closest("[role=tabpanel]").querySelector("summary"));
    group.onpointerenter = () => {
      for (const { edge, line } of lines) line.classList.toggle("faint", edge.from !== node && edge.to !== node);
      for (const one of shapes) one.group.classList.toggle("faint", one.node !== node && !node.near.has(one.node));
    };
    group.onpointerleave = () => {
      for (const one of svg.querySelectorAll(".faint")) one.classList.remove("faint");
    };
    return { node, group };
  });
  svg.append(...lines.map(({ line }) => line), ...shapes.map(({ group }) => group));
  svg.append(...shapes.filter(({ node }) => node.kind === "entity").map(({ group }) => group)); // names on top
  return svg;
}

function shapeOf(node) {
  if (node.kind === "entity") {
    return [
      makeSvg("title", {}, node.type ? `${node.name} (${node.type})` : node.name),
      makeSvg("circle", { r: 9 }),
      makeSvg("text", { y: 23, class: "name" }, shortened(node.name, 22)),
    ];
  }
  const width = Math.max(26, 10 + 7 * node.name.length);
  const title = node.passages.map(({ passage }) => passage.document).join(", ");
  return [
    makeSvg("title", {}, node.kind === "summary" ? `Summary of ${title}` : title),
    makeSvg("rect", { x: -width / 2, y: -11, width, height: 22, rx: node.kind === "summary" ? 11 : 3 }),
    makeSvg("text", { y: 4 }, node.name),
  ];
}

const describe = (type, count) =>
  type === "CO_OCCURS" ? `together in ${counted(count ?? 0, "sentence")}` : `mentioned ${count === 1 ? "once" : `${count} times`}`;

function legend() {
  const key = (shape, words) => [
    makeSvg("svg", { viewBox: "0 0 26 16", class: "graph sample", "aria-hidden": "true" }, shape),
    `${words} `,
  ];
  return [
    ...key(makeSvg("g", { class: "node entity" }, makeSvg("circle", { cx: 13, cy: 8, r: 6 })), "entity"),
    ...key(makeSvg("g", { class: "node chunk" }, makeSvg("rect", { x: 3, y: 2, width: 20, height: 12, rx: 2 })), "passage, with its number, or a letter if the chat model did not read it"),
    ...key(makeSvg("line", { x1: 2, y1: 8, x2: 24, y2: 8, class: "together" }), "in the same sentence"),
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
