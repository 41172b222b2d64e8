// Count the chunks that mention an entity, its spellings and its types. Runs before staged chunks replace the visible
// chunks of documents; unchanged chunks are kept. The most frequent spelling becomes the name of the entity; in case of
// a tie, one that is not all capitals; the key if there is none, as the name stands only for others. The type is
// `noun` if more than half of the mentions are common nouns, else the most frequent other type; in case of a tie, one that
// is not `name`. Mentions of an archive may have no types.
// $corpus, $rows: [{document, chunks: [id] of unchanged chunks}]
UNWIND $rows AS row
CALL (row) {
  MATCH (c:Chunk {corpus: $corpus, document: row.document}) WHERE NOT c.id IN row.chunks RETURN c, -1 AS sign
  UNION ALL
  MATCH (c:StagedChunk {corpus: $corpus, document: row.document}) RETURN c, 1 AS sign
}
MATCH (c)<-[m:FROM_CHUNK]-(e:Entity)
WITH e, sum(sign) AS more, collect([m, sign]) AS changes
WITH e, more, changes, [
  change IN changes | {
    sign: change[1],
    forms: coalesce(change[0].forms, [e.key]), form_counts: coalesce(change[0].form_counts, [change[0].count]),
    types: coalesce(change[0].types, []), type_counts: change[0].type_counts
  }
] + [{
  sign: 1,
  forms: coalesce(e.forms, []), form_counts: e.form_counts,
  types: coalesce(e.types, []), type_counts: e.type_counts
}] AS counted
CALL (counted) {
  UNWIND counted AS one
  UNWIND range(0, size(one.forms) - 1) AS i
  WITH one.forms[i] AS form, sum(one.sign * one.form_counts[i]) AS count
  WHERE count > 0
  WITH form, count ORDER BY count DESC, form = toUpper(form), form
  RETURN collect(form) AS forms, collect(count) AS form_counts
}
CALL (counted) {
  UNWIND counted AS one
  UNWIND range(0, size(one.types) - 1) AS i
  WITH one.types[i] AS type, sum(one.sign * one.type_counts[i]) AS count
  WHERE count > 0
  WITH type, count ORDER BY count DESC, type = 'name', type
  RETURN collect(type) AS types, collect(count) AS type_counts, sum(count) AS all,
         sum(CASE type WHEN 'noun' THEN count ELSE 0 END) AS nouns
}
SET e.chunks = coalesce(e.chunks, 0) + more,
    e.name = coalesce(forms[0], e.key),
    e.forms = CASE forms WHEN [] THEN null ELSE forms END,
    e.form_counts = CASE forms WHEN [] THEN null ELSE form_counts END,
    e.type = CASE WHEN 2 * nouns > all THEN 'noun' ELSE [type IN types WHERE type <> 'noun'][0] END,
    e.types = CASE types WHEN [] THEN null ELSE types END,
    e.type_counts = CASE types WHEN [] THEN null ELSE type_counts END
