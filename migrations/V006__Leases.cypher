// Who may write.
//
// An E2GRun is a run of indexing that is at work: the documents that it holds name it, and are its own until it expires.
// An E2GLock never outlives the transaction that makes it: what counts is that the constraint lets only one transaction
// at a time make the one of a corpus.

CREATE CONSTRAINT e2g_run_key IF NOT EXISTS
FOR (r:E2GRun) REQUIRE r.id IS UNIQUE;

CREATE CONSTRAINT e2g_lock_key IF NOT EXISTS
FOR (l:E2GLock) REQUIRE l.corpus IS UNIQUE;
