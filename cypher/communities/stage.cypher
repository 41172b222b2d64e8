// Write staged communities.
// $corpus, $run, $rows: [{id, level, title, text, rating, entities, sha256, report_sha256, sources: [id of a chunk],
//   chunks: [id], embedding}]. rating: null if a report is extractive; entities: how many; sources: those that the text
//   cites by number; chunks: those that the report is made from
UNWIND $rows AS row
CREATE (c:StagedCommunity {
  corpus: $corpus, run: $run, id: row.id, level: row.level, title: row.title, text: row.text, rating: row.rating,
  entities: row.entities, sha256: row.sha256, report_sha256: row.report_sha256,
  sources: row.sources
})
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'embedding', row.embedding)
WITH c, row
UNWIND row.chunks AS chunk
MATCH (quoted:Chunk {corpus: $corpus, id: chunk})
CREATE (c)-[:QUOTES]->(quoted)
