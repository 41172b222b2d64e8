// Drawings of graphs, by Cytoscape.js. Each has a table beside it, for the keyboard and for screen readers.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const PADDING = 24;

const drawings = new Map(); // by the element that they are in

DARK.addEventListener("change", () => {
  for (const graph of drawings.values()) graph.style(styles());
});

/**
 * Draw a graph in an element, in place of an earlier one, and return it. The same graph is always drawn the same way.
 * The colour of a node is `data.colour`, a variable of the style sheet; `classes` are those of `styles`.
 */
export async function drawNetwork(container, nodes, edges) {
  const { default: cytoscape } = await import("./cytoscape.js");
  for (const [element, drawn] of drawings) {
    if (element !== container && element.isConnected) continue;
    drawn.destroy();
    drawings.delete(element);
  }
  const turn = 2.4; // a sunflower: evenly spread, no two together
  const graph = cytoscape({
    container,
    elements: [
      ...nodes.map((node, at) => ({ ...node, position: { x: 60 * Math.sqrt(at) * Math.cos(at * turn), y: 42 * Math.sqrt(at) * Math.sin(at * turn) } })),
      ...edges,
    ],
    style: styles(),
    layout: { name: "cose", animate: false, randomize: false, nodeRepulsion: () => 60000, idealEdgeLength: () => 70, padding: PADDING },
    userZoomingEnabled: false, // the wheel scrolls the page
    userPanningEnabled: false,
    boxSelectionEnabled: false,
  });
  drawings.set(container, graph);
  graph.on("mouseover", "node", ({ target }) => graph.elements().not(target.closedNeighborhood()).addClass("faint"));
  graph.on("mouseout", "node", () => graph.elements().removeClass("faint"));
  const observer = new ResizeObserver(() => graph.resize().fit(undefined, PADDING)); // also when it is hidden at first
  observer.observe(container);
  graph.on("destroy", () => observer.disconnect());
  return graph;
}

function styles() {
  const variables = getComputedStyle(document.documentElement);
  const colour = (name) => variables.getPropertyValue(`--${name}`).trim();
  return [
    {
      selector: "node",
      style: {
        label: "data(label)",
        width: 16,
        height: 16,
        "background-color": (node) => colour(node.data("colour") ?? "type-other"),
        color: colour("text"),
        "font-size": 12,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "text-outline-color": colour("card"),
        "text-outline-width": 2,
      },
    },
    { selector: ".centre", style: { width: 26, height: 26, "border-width": 3, "border-color": colour("text"), "font-weight": "bold" } },
    {
      selector: ".chunk, .summary",
      style: {
        shape: "rectangle",
        width: (node) => Math.max(26, 10 + 7 * node.data("label").length),
        height: 22,
        "background-color": colour("tint"),
        "border-width": 1.5,
        "border-color": colour("accent"),
        color: colour("accent"),
        "font-weight": "bold",
        "text-valign": "center",
        "text-margin-y": 0,
        "text-outline-width": 0,
      },
    },
    { selector: ".summary", style: { shape: "round-rectangle", "corner-radius": 11 } },
    {
      selector: "edge",
      style: { width: (edge) => 1 + Math.min(5, Math.log2(1 + (edge.data("sentences") ?? 0)) / 2), "line-color": colour("edge"), opacity: 0.55 },
    },
    { selector: ".mention", style: { "line-style": "dashed" } },
    { selector: ".light", style: { display: "none" } },
    { selector: ".faint", style: { opacity: 0.22 } },
  ];
}
