// Take the lock of a corpus. Return one row if a document still has this text, no run is indexing it, and what its
// mentions depend on has not changed, else none: the names that were split or merged by hand, those of linked nodes, and
// the names of people that have some words, see `names.cypher`, and `shared_names.cypher`. A run whose lease has expired
// loses the document.
// $corpus, $document, $sha256, $overrides: [[key, key of the other name or '']], sorted; $linked: [version], sorted;
// $any_words and $pairs as in `names.cypher` and `shared_names.cypher`; $known: [[name, count]], sorted; $shared: [full
// name], sorted
// → held
// include: lock
MATCH (d:Document {corpus: $corpus, id: $document, state: 'ready', sha256: $sha256})
WHERE (d.run IS NULL OR NOT EXISTS { MATCH (r:E2GRun {id: d.run}) WHERE r.expires > timestamp() })
  AND $overrides =
    // include: decided_names
  AND $linked = COLLECT { MATCH (n:E2GLinkedNames {corpus: $corpus}) RETURN n.version ORDER BY n.version }
  AND $known = COLLECT {
    MATCH (other:Document {corpus: $corpus})
    WHERE other.id IS NOT NULL AND other.names IS NOT NULL
    UNWIND range(0, size(other.names) - 1) AS i
    WITH other.names[i] AS name, other.name_counts[i] AS count
    WHERE any(word IN split(name, ' ') WHERE $any_words[word])
    WITH name, sum(count) AS count ORDER BY name
    RETURN [name, count]
  }
  AND $shared = COLLECT {
    UNWIND $pairs AS row
    WITH row
    WHERE EXISTS {
      MATCH (other:Document {corpus: $corpus})
      WHERE other.id <> row.document AND row.full IN other.names
        AND size([name IN other.names WHERE row.names[name]]) >= row.least
    }
    RETURN row.full AS full ORDER BY full
  }
REMOVE d.run
RETURN d.id AS held
