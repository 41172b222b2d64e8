// Make an imported corpus visible: from the end of this transaction on, queries find its documents.
// $corpus, $run
MATCH (i:E2GImport {corpus: $corpus, run: $run})
SET i.published = true
WITH count(*) AS reserved
MATCH (d:StagedDocument {corpus: $corpus})
WHERE d.id IS NOT NULL
REMOVE d:StagedDocument
SET d:Document
