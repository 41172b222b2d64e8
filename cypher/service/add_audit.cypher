// Record what was done.
// $rows: [{id, key, action, corpus, target, status, request_id}]
UNWIND $rows AS row
MERGE (a:E2GAudit {id: row.id})
ON CREATE SET a.at = timestamp(), a.key = row.key, a.action = row.action, a.corpus_name = row.corpus,
    a.target = row.target, a.status = row.status, a.request_id = row.request_id
