// Restrict chunks to the documents of a filter. Here there is none.
// ← c
