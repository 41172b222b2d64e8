// Make the staged windows of documents visible.
// $corpus, $documents: [id]
UNWIND $documents AS document
MATCH (w:StagedWindow {corpus: $corpus, document: document})
REMOVE w:StagedWindow
SET w:Window
