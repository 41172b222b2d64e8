// Write staged clusters.
// $corpus, $run, $rows: [{id, level, text, tokens, chunks, document, start, end, sha256, text_sha256, embedding}].
//   chunks: how many are below; document: the id of the one that has most of them; start, end: where these are in it
UNWIND $rows AS row
CREATE (c:StagedCluster {
  corpus: $corpus, run: $run, id: row.id, level: row.level, text: row.text, tokens: row.tokens, chunks: row.chunks,
  document: row.document, start: row.start, end: row.end, sha256: row.sha256, text_sha256: row.text_sha256
})
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)
