// Count the chunks that mention an entity, and its spellings. Runs before staged chunks replace the visible chunks of
// documents; unchanged chunks are kept. The most frequent spelling becomes the name of the entity; in case of a tie,
// one that is not all capitals.
// $corpus, $rows: [{document, chunks: [id] of unchanged chunks}]
UNWIND $rows AS row
CALL (row) {
  MATCH (c:Chunk {corpus: $corpus, document: row.document}) WHERE NOT c.id IN row.chunks RETURN c, -1 AS sign
  UNION ALL
  MATCH (c:StagedChunk {corpus: $corpus, document: row.document}) RETURN c, 1 AS sign
}
MATCH (c)<-[m:FROM_CHUNK]-(e:Entity)
WITH e, sum(sign) AS more, collect([m, sign]) AS mentions
SET e.chunks = coalesce(e.chunks, 0) + more
WITH e, mentions
UNWIND mentions AS mention
WITH e, mention[1] AS sign, coalesce(mention[0].forms, [e.key]) AS forms,
     coalesce(mention[0].form_counts, [mention[0].count]) AS counts
UNWIND range(0, size(forms) - 1) AS i
WITH e, forms[i] AS form, sum(sign * counts[i]) AS change
WHERE change <> 0
WITH e, collect([form, change]) AS changes, coalesce(e.forms, []) AS forms, e.form_counts AS counts
CALL (changes, forms, counts) {
  UNWIND changes + [i IN range(0, size(forms) - 1) | [forms[i], counts[i]]] AS one
  WITH one[0] AS form, sum(one[1]) AS count
  WHERE count > 0
  WITH form, count ORDER BY count DESC, form = toUpper(form), form
  RETURN collect(form) AS now, collect(count) AS now_counts
}
SET e.name = now[0], e.forms = CASE now WHEN [] THEN null ELSE now END,
    e.form_counts = CASE now WHEN [] THEN null ELSE now_counts END
