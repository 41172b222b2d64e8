// Chunks with their windows, as `windows_of` takes them.
// $corpus
// ← c, windows
// → candidates: [{chunk, document, index, tokens, persistence, shares, windows}]
MATCH (d:Document {corpus: $corpus, id: c.document})
WITH collect({
  chunk: c.id, document: d.id, index: c.index, tokens: c.tokens, shares: c.window_shares,
  persistence: d.persistence, windows: windows
}) AS candidates
