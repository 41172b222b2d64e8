// How many windows are searched: those of $documents; null: all of a corpus.
// $documents, $corpus
// ← corpus
// → windows
WITH *, CASE
  WHEN $documents IS NULL THEN corpus.windows
  ELSE reduce(total = 0, number IN COLLECT {
    MATCH (d:Document {corpus: $corpus}) WHERE d.id IN $documents RETURN d.windows
  } | total + number)
END AS windows
