// What was decided by hand about names of a corpus: those that were split or merged, sorted.
// $corpus
// = an expression, [[key, key of the other name or '', 'document id: name of the entity' …]]
COLLECT {
  MATCH (a:Alias {corpus: $corpus})
  WHERE a.key IS NOT NULL AND (a.apart OR a.into IS NOT NULL OR a.documents IS NOT NULL)
  RETURN [a.key, coalesce(a.into, '')]
         + COLLECT { UNWIND range(0, size(coalesce(a.documents, [])) - 1) AS i
                     WITH a.documents[i] + ': ' + a.senses[i] AS sense ORDER BY sense
                     RETURN sense } ORDER BY a.key
}
