// The service: its tasks with the files that wait for them, its keys, what they used, and what was done with them.
//
// Tasks and the audit name a corpus in `corpus_name`. They are no part of it: what exports, counts or deletes a corpus
// looks for `corpus` and leaves them alone. An E2GTaskStep says that a step of a task was done, in the transaction that
// did it. The one E2GQueue is the lock that every change of a task takes.

CREATE CONSTRAINT e2g_task_id IF NOT EXISTS
FOR (t:E2GTask) REQUIRE t.id IS UNIQUE;

CREATE CONSTRAINT e2g_task_idempotency IF NOT EXISTS
FOR (t:E2GTask) REQUIRE t.idempotency IS UNIQUE;

CREATE INDEX e2g_task_state IF NOT EXISTS
FOR (t:E2GTask) ON (t.state);

CREATE INDEX e2g_task_turn IF NOT EXISTS
FOR (t:E2GTask) ON (t.key, t.turn);

CREATE INDEX e2g_task_created IF NOT EXISTS
FOR (t:E2GTask) ON (t.created);

CREATE INDEX e2g_task_ended IF NOT EXISTS
FOR (t:E2GTask) ON (t.ended);

CREATE CONSTRAINT e2g_task_step IF NOT EXISTS
FOR (s:E2GTaskStep) REQUIRE (s.task, s.step) IS UNIQUE;

CREATE CONSTRAINT e2g_queue_id IF NOT EXISTS
FOR (q:E2GQueue) REQUIRE q.id IS UNIQUE;

CREATE CONSTRAINT e2g_blob_part IF NOT EXISTS
FOR (b:E2GBlob) REQUIRE (b.task, b.file, b.part) IS UNIQUE;

CREATE CONSTRAINT e2g_api_key_id IF NOT EXISTS
FOR (k:E2GKey) REQUIRE k.id IS UNIQUE;

CREATE CONSTRAINT e2g_usage_day IF NOT EXISTS
FOR (u:E2GUsage) REQUIRE (u.key, u.day) IS UNIQUE;

CREATE CONSTRAINT e2g_audit_id IF NOT EXISTS
FOR (a:E2GAudit) REQUIRE a.id IS UNIQUE;

CREATE INDEX e2g_audit_at IF NOT EXISTS
FOR (a:E2GAudit) ON (a.at);
