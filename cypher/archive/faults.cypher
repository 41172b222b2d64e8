// What does not fit together in an imported corpus: at most one row.
// $corpus
// → label, id, fault
CALL () {
  MATCH (d:StagedDocument {corpus: $corpus})
  WHERE d.id IS NOT NULL
  OPTIONAL MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
  WITH d, count(c) AS chunks, count(DISTINCT c.index) AS places, max(c.index) AS last, max(c.end) AS end,
       sum(c.tokens) AS tokens, sum(size(c.window_shares)) AS windows,
       sum(COUNT { (c)-[:NEXT_CHUNK]->() }) AS followed
  WHERE chunks <> coalesce(d.chunks, 0) OR places <> chunks OR last <> chunks - 1 OR end > d.characters
     OR tokens <> coalesce(d.tokens, 0) OR windows <> coalesce(d.windows, 0)
     OR followed <> CASE chunks WHEN 0 THEN 0 ELSE chunks - 1 END
  RETURN 'Document' AS label, d.id AS id, 'its counts, or the order of its chunks, are not those of its chunks' AS fault
  UNION ALL
  MATCH (c:Chunk {corpus: $corpus})
  WHERE c.document IS NOT NULL
    AND (COUNT { (c)-[:FROM_DOCUMENT]->() } <> 1
      OR NOT EXISTS { (c)-[:FROM_DOCUMENT]->(d:StagedDocument) WHERE d.id = c.document AND d.state = 'ready' }
      OR EXISTS { (c)-[:NEXT_CHUNK]->(n) WHERE n.document <> c.document OR n.index <> c.index + 1 OR n.start < c.start }
      OR COUNT { (c)-[:CHILD_OF]->() } > 1 OR COUNT { (c)-[:IN_CLUSTER]->() } > 50)
  RETURN 'Chunk' AS label, c.id AS id, 'it is not in its place in a document' AS fault
  UNION ALL
  MATCH (w:Window {corpus: $corpus})
  WHERE w.document IS NOT NULL
    AND (COUNT { (w)-[:PART_OF]->() } <> 1 OR EXISTS { (w)-[:PART_OF]->(c) WHERE c.document <> w.document })
  RETURN 'Window' AS label, w.id AS id, 'it is not part of one chunk of its document' AS fault
  UNION ALL
  MATCH (s:Summary {corpus: $corpus})
  WHERE s.document IS NOT NULL
    AND (COUNT { (s)-[:CHILD_OF]->() } > 1 OR COUNT { (s)<-[:CHILD_OF]-() } = 0
      OR EXISTS { (s)<-[:CHILD_OF]-(n)
                  WHERE n.document <> s.document OR n.level <> s.level - 1 OR n.start < s.start OR n.end > s.end })
  RETURN 'Summary' AS label, s.id AS id, 'it is not in its place in a tree' AS fault
  UNION ALL
  MATCH (e:Entity {corpus: $corpus})
  WHERE e.key IS NOT NULL
    AND (e.chunks <> COUNT { (e)-[:FROM_CHUNK]->() }
      OR e.chunks <> COUNT { MATCH (e)-[:FROM_CHUNK]->(c) RETURN DISTINCT c })
  RETURN 'Entity' AS label, e.key AS id, 'it is not mentioned by as many chunks' AS fault
  UNION ALL
  MATCH (e:Entity {corpus: $corpus})-[r:CO_OCCURS]->(other)
  WHERE e.key IS NOT NULL
  WITH e, count(r) AS edges, count(DISTINCT other) AS others, min(other.key) AS least
  WHERE edges <> others OR least <= e.key
  RETURN 'Entity' AS label, e.key AS id, 'an edge is there twice, or does not point to a larger key' AS fault
  UNION ALL
  MATCH (a:Alias {corpus: $corpus})
  WHERE a.key IS NOT NULL
    AND ((a.name IS NULL) = EXISTS { (a)-[:ALIAS_OF]->() } OR a.name IS NULL AND a.apart IS NULL
      OR EXISTS { (a)-[r:ALIAS_OF]->()
                  WHERE NOT EXISTS { MATCH (:StagedDocument {corpus: $corpus, id: r.document}) } })
  RETURN 'Alias' AS label, a.key AS id, 'it does not stand for an entity in a document' AS fault
  UNION ALL
  MATCH (c:Community {corpus: $corpus})
  WHERE c.id IS NOT NULL
    AND (c.entities <> COUNT { MATCH (c)<-[:IN_COMMUNITY]-(e) RETURN DISTINCT e }
      OR c.entities <> COUNT { (c)<-[:IN_COMMUNITY]-() }
      OR COUNT { (c)-[:PARENT]->() } > 1 OR EXISTS { (c)-[:PARENT]->(p) WHERE p.level <= c.level }
      OR COUNT { (c)-[:QUOTES]->() } <> COUNT { MATCH (c)-[:QUOTES]->(n) RETURN DISTINCT n })
  RETURN 'Community' AS label, c.id AS id, 'its entities, parent or quotations are not those of a community' AS fault
  UNION ALL
  MATCH (c:Cluster {corpus: $corpus})
  WHERE c.id IS NOT NULL
    AND (NOT EXISTS { MATCH (d:StagedDocument {corpus: $corpus, id: c.document}) WHERE d.characters >= c.end }
      OR EXISTS { (c)<-[:IN_CLUSTER]-(n) WHERE n.level >= c.level }
      OR COUNT { (c)<-[:IN_CLUSTER]-() } <> COUNT { MATCH (c)<-[:IN_CLUSTER]-(n) RETURN DISTINCT n }
      OR COUNT { (c)-[:IN_CLUSTER]->() } > 10)
  RETURN 'Cluster' AS label, c.id AS id, 'its members or document are not those of a cluster' AS fault
  UNION ALL
  MATCH (s:Statement {corpus: $corpus})
  WHERE s.id IS NOT NULL
    AND (COUNT { (s)-[:STATED_IN]->() } <> 1 OR COUNT { (s)-[:SUBJECT]->() } <> 1 OR COUNT { (s)-[:OBJECT]->() } > 1
      OR EXISTS { (s)-[:STATED_IN]->(c) WHERE NOT s.id STARTS WITH c.id + '-r' })
  RETURN 'Statement' AS label, s.id AS id, 'it is not about an entity in one chunk' AS fault
}
RETURN label, id, fault LIMIT 1
