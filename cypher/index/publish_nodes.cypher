// Make the staged chunks, windows and summaries of documents visible.
// $corpus, $documents: [id]
UNWIND $documents AS document
CALL (document) {
  MATCH (c:StagedChunk {corpus: $corpus, document: document})
  REMOVE c:StagedChunk
  SET c:Chunk
}
CALL (document) {
  MATCH (w:StagedWindow {corpus: $corpus, document: document})
  REMOVE w:StagedWindow
  SET w:Window
}
CALL (document) {
  MATCH (s:StagedSummary {corpus: $corpus, document: document})
  REMOVE s:StagedSummary
  SET s:Summary
}
