// Write what the windows of staged chunks weigh.
// $corpus, $rows: [{id, window_weights}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.id})
SET c.window_weights = row.window_weights
