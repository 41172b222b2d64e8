// Write which staged chunk mentions which entity how often, and in which of its own sentences. `windows` counts the
// sentences that hold it, window by window.
// $corpus, $rows: [{entity, chunk, count, sentences, windows, forms, form_counts}]; no forms where the key is the only one
UNWIND $rows AS row
MERGE (e:Entity {corpus: $corpus, key: row.entity})
WITH e, row
MATCH (c:StagedChunk {corpus: $corpus, id: row.chunk})
CREATE (e)-[:FROM_CHUNK {count: row.count, sentences: row.sentences, windows: row.windows,
                        forms: row.forms, form_counts: row.form_counts}]->(c)
