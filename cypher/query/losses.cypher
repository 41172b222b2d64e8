// What the files of documents have and their texts have not, of documents that queries see.
// $corpora: [name], $limit: documents
// → title, losses: [text]
MATCH (d:Document)
WHERE d.corpus IN $corpora AND d.losses IS NOT NULL AND d.state = 'ready'
RETURN d.title AS title, d.losses AS losses
ORDER BY title LIMIT $limit
