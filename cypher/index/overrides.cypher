// List what was decided by hand about names of a corpus: which must not be merged, which resolve to another name, and
// which mean another entity in a document.
// $corpus
// → key, decided, into, documents: [id], senses: [name]. `into` is the key of the other name, or null if
// the name must not be merged, which holds in all documents if it is decided. In each of the documents, the name means
// the entity with this name.
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND (a.apart OR a.into IS NOT NULL OR a.documents IS NOT NULL)
RETURN a.key AS key, a.apart OR a.into IS NOT NULL AS decided, a.into AS into,
       coalesce(a.documents, []) AS documents, coalesce(a.senses, []) AS senses
