// Read what was decided by hand about names of a corpus.
// $corpus
// → key, apart, into, documents, senses
MATCH (a:Alias {corpus: $corpus})
WHERE a.key IS NOT NULL AND (a.apart OR a.into IS NOT NULL OR a.documents IS NOT NULL)
RETURN a.key AS key, a.apart AS apart, a.into AS into, a.documents AS documents, a.senses AS senses
ORDER BY key
