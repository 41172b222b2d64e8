// Write what the windows of staged chunks weigh, and the hash of what the chunks mention.
// $corpus, $rows: [{id, window_weights, told}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.id})
SET c.window_weights = row.window_weights, c.told = row.told
