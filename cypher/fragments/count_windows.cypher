// How many windows are searched: all of a corpus.
// ← corpus
// → windows
WITH *, corpus.windows AS windows
