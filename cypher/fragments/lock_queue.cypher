// Take the lock of the queue, until the end of the transaction.
// → locked
MERGE (q:E2GQueue {id: 'queue'})
SET q.locked = timestamp()
WITH count(*) AS locked
