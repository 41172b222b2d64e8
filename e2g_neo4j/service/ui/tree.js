// The summary trees: where in its document the evidence lies, and which summaries cover it.

import { make, makeSvg, span } from "./dom.js";

const WIDTH = 640;
const ROW = 20;
const NARROWEST = 4;
const LABEL = 14;

/** Draw the trees of an explanation. `labels` has the passages of each chunk and summary. */
export function drawTree(panel, { nodes, relationships }, labels, open) {
  const documents = documentsOf(nodes, relationships, labels);
  if (!documents.length) {
    panel.replaceChildren(make("p", { class: "empty" }, "There is no evidence to show."));
    return;
  }
  panel.replaceChildren(
    make("h3", { class: "hidden" }, "Summary trees"),
    make(
      "p",
      { class: "note" },
      "Where the evidence lies, from the beginning of a document to its end. Summaries stand above the text that they cover.",
    ),
    ...documents.map((document) =>
      make(
        "section",
        { class: "tree" },
        make("h4", {}, document.title),
        picture(document, open),
        make("details", {}, make("summary", {}, "Show as a list"), list(document.roots, open)),
      ),
    ),
  );
}

function documentsOf(nodes, relationships, labels) {
  const found = new Map();
  for (const { id, labels: kinds, properties } of nodes) {
    if (kinds.includes("Entity") || properties.start === undefined) continue;
    const passages = labels.get(properties.id) ?? [];
    found.set(id, { ...properties, passages, children: [], parent: null });
  }
  for (const { type, start, end } of relationships) {
    if (type !== "CHILD_OF" || !found.has(start) || !found.has(end)) continue;
    found.get(start).parent = found.get(end);
    found.get(end).children.push(found.get(start));
  }
  const documents = new Map();
  for (const node of found.values()) {
    node.children.sort((a, b) => a.start - b.start);
    const document = documents.get(node.document) ?? { title: "", nodes: [], roots: [], levels: 0, length: 1 };
    documents.set(node.document, document);
    document.nodes.push(node);
    if (!node.parent) document.roots.push(node);
    document.levels = Math.max(document.levels, node.level);
    document.length = Math.max(document.length, node.end);
    document.title ||= node.passages[0]?.passage.document ?? "";
  }
  return [...documents.values()];
}

function picture({ title, nodes, levels, length }, open) {
  const bottom = (levels + 1) * ROW;
  const name = `Summary tree of ${title}. The list below has the same.`;
  const svg = makeSvg("svg", { class: "icicle", role: "img", "aria-label": name });
  const marks = [];
  for (const node of nodes.toSorted((a, b) => b.level - a.level || a.start - b.start)) {
    const width = Math.max(NARROWEST, ((node.end - node.start) / length) * WIDTH);
    const x = Math.min((node.start / length) * WIDTH, WIDTH - width);
    const place = { x: x + 0.5, y: (levels - node.level) * ROW + 1, width: width - 1, height: ROW - 3, rx: 2 };
    const kind = node.passages.length ? "evidence" : "cover";
    const rect = makeSvg("rect", { ...place, class: kind }, makeSvg("title", {}, describe(node)));
    if (node.passages.length) {
      rect.onclick = () => open(node.passages[0].passage, svg.parentElement.querySelector("summary"));
      const names = node.passages.map(({ n }) => n).filter(Boolean).join(",");
      if (names && !node.level) marks.push({ x: x + width / 2, names });
    }
    svg.append(rect);
  }
  const rows = mark(svg, marks, bottom);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${bottom + rows * LABEL + 2}`);
  return svg;
}

/** Write the numbers of passages below their chunks, in as many rows as they need. Return the number of rows. */
function mark(svg, marks, top) {
  const ends = []; // of the last number in each row
  for (const { x, names } of marks) {
    const width = 7 * names.length + 4;
    const left = Math.min(Math.max(0, x - width / 2), WIDTH - width);
    const found = ends.findIndex((end) => end <= left);
    const row = found < 0 ? ends.length : found;
    ends[row] = left + width;
    const y = top + row * LABEL;
    if (row) svg.append(makeSvg("line", { x1: x, y1: top - 2, x2: x, y2: y }));
    svg.append(makeSvg("text", { x: left + width / 2, y: y + LABEL - 3 }, names));
  }
  return ends.length;
}

const describe = (node) =>
  `${node.level ? `Summary, level ${node.level}` : "Chunk"}, ${span(node.start, node.end)}${node.heading ? `, ${node.heading}` : ""}`;

function list(nodes, open) {
  const items = nodes.map((node) =>
    make("li", {}, describe(node), ...buttons(node, open), node.children.length ? list(node.children, open) : null),
  );
  return make("ul", { class: "nested" }, ...items);
}

const buttons = (node, open) =>
  node.passages.flatMap(({ passage, n }) => [
    " ",
    make(
      "button",
      { type: "button", class: "link", onclick: (event) => open(passage, event.currentTarget) },
      n ? `Open passage ${n}` : "Open the passage",
    ),
  ]);
