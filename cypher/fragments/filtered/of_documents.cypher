// Restrict chunks to $documents, and to those that end at $until or before; null: all.
// $documents, $until
// ← c
WHERE ($documents IS NULL OR c.document IN $documents) AND ($until IS NULL OR c.end <= $until)
