// Write how often staged chunks mention entities, and in which sentences of their own text. `windows` has the number of
// sentences that mention the entity for each window.
// $corpus, $rows: [{entity, chunk, count, sentences, windows, forms, form_counts, types, type_counts}]; no
// forms if only the key occurs, no types if they are unknown
UNWIND $rows AS row
MERGE (e:Entity {corpus: $corpus, key: row.entity})
WITH e, row
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (e)-[:FROM_CHUNK {count: row.count, sentences: row.sentences, windows: row.windows,
                        forms: row.forms, form_counts: row.form_counts,
                        types: row.types, type_counts: row.type_counts}]->(c)
