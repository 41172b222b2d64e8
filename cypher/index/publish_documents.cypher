// Declare documents ready: from the end of this transaction on, queries see them.
// $corpus, $rows: [{id, title, source, sha256, characters, tokens}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.id})
SET d.title = row.title, d.source = row.source, d.sha256 = row.sha256, d.characters = row.characters,
    d.tokens = row.tokens, d.state = 'ready'
