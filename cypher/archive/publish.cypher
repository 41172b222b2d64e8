// Make an imported corpus visible. Queries find its documents from the end of this transaction.
// $corpus, $run
MATCH (i:E2GImport {corpus: $corpus, run: $run})
SET i.published = true
WITH count(*) AS reserved
MATCH (d:StagedDocument {corpus: $corpus})
WHERE d.id IS NOT NULL
REMOVE d:StagedDocument
SET d:Document
