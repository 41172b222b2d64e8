// Write the weights of the windows of staged chunks, and the hash of the chunks' mentions.
// $corpus, $rows: [{id, window_weights, told}]
UNWIND $rows AS row
MATCH (c:StagedChunk {corpus: $corpus, id: row.id})
SET c.window_weights = row.window_weights, c.told = row.told
