// Make the staged summaries of documents visible.
// $corpus, $documents: [id]
UNWIND $documents AS document
MATCH (s:StagedSummary {corpus: $corpus, document: document})
REMOVE s:StagedSummary
SET s:Summary
