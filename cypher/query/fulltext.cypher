// The $k best chunks of the full-text index (BM25) for some words.
// $corpus, $words: a Lucene query that contains the corpus too, $k
// → id, level, index, text, start, end, page, heading, document_id, document, source, path: [summary id], score
CALL db.index.fulltext.queryNodes('e2g_chunk_words', $words, {limit: $k}) YIELD node AS n, score
WHERE n.corpus = $corpus AND score > 0
WITH n, score ORDER BY score DESC, n.id LIMIT $k
MATCH (d:Document {corpus: $corpus, id: n.document})
RETURN n.id AS id, n.level AS level, n.index AS index, n.text AS text, n.start AS start, n.end AS end,
       n.page AS page, n.heading AS heading, d.id AS document_id, d.title AS document, d.source AS source,
       COLLECT { MATCH (n)-[:CHILD_OF*1..]->(s:Summary) RETURN s.id ORDER BY s.level } AS path, score
ORDER BY score DESC, id
