// Restrict chunks to $documents; null: all.
// $documents
// ← c
WHERE ($documents IS NULL OR c.document IN $documents)
