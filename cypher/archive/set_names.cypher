// Record what was decided by hand about names.
// $corpus, $rows: [{key, apart, into, documents, senses}]
UNWIND $rows AS row
MERGE (a:Alias {corpus: $corpus, key: row.key})
SET a.apart = row.apart, a.into = row.into, a.documents = row.documents, a.senses = row.senses
