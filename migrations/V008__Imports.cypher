// An archive that is being imported.
//
// An E2GImport names the corpus that is being made and the run that makes it; while it is there, nobody else writes
// that corpus. E2GImported is on each node that is being made, with the key that the archive's relationships name it
// by. Its documents are StagedDocuments until it is whole.

CREATE CONSTRAINT e2g_import_key IF NOT EXISTS
FOR (i:E2GImport) REQUIRE i.corpus IS UNIQUE;

CREATE CONSTRAINT e2g_imported_key IF NOT EXISTS
FOR (n:E2GImported) REQUIRE (n.corpus, n.import_key) IS UNIQUE;

CREATE CONSTRAINT e2g_staged_document_key IF NOT EXISTS
FOR (d:StagedDocument) REQUIRE (d.corpus, d.id) IS UNIQUE;
