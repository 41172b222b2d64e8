// Sentences of documents, with the names in them marked.

import { documentAddress } from "./address.js";
import { make, shortened, span } from "./dom.js";
import { marked, termsOf } from "./excerpt.js";

/** Make the items of a list of sentences. */
export function quoteItems(corpus, quotes, names) {
  const terms = termsOf("", names);
  return quotes.map(({ document, title, start, end, text }) =>
    make(
      "li",
      { class: "card" },
      make("blockquote", {}, ...marked(text, terms)),
      make("p", { class: "note" }, `${title} · ${span(start, end)}`),
      make("a", { href: documentAddress(corpus, document, start), "aria-label": `Open in the text: ${shortened(text, 60)}` }, "Open in the text"),
    ),
  );
}
