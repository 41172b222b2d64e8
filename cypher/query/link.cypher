// What the graph has about a question's entities, in one round trip: whether the corpus has documents, which entities
// exist (at most $limit, names before nouns, the rarest first) and which others (`left`), the distance of each pair, the
// chunks that mention at least two of them, what the corpus was made with, and whether the corpus' statements, and the
// vectors of its sentences and its entities, are up to date (null without any). A name resolves to the entity with this
// key, and to up to $meanings entities of which it is an alias in some document. One of the other names resolves only to
// names, and only if it is no part of a longer one that resolves.
//
// One of the $proper names that nothing is called by resolves to `similar` ones: the names that have all words of it, or
// else words that differ from them in one letter, or else in two. `words` has queries of Lucene for each of these. With
// terms, it is looked for only if no window has one of them. `count` tells of how many entities these are the first
// $meanings.
//
// Two entities that only the same name resolves to are no pair. Paths longer than six edges are ignored. `words` counts
// the windows of the corpus, and of all corpora of the full-text index, and those that contain the terms of the question.
// $corpus, $names, $other_names: [key], $proper: [{name, words: [[query]], terms: [term]}], $limit, $meanings, $terms
// → found, made_with: {embedding_model, dimensions, pooling, spacy_model, vectors}, named: [{entity: key, type, names: [name]}],
//   left: [{entity: key, names: [name]}], similar: [{name, entity: key, called: name, count}], pairs: [{a, b, hops}],
//   shared: [{chunk, document, index, counts: [{entity, count}]}],
//   words: {windows, index_windows, terms: [{term, windows, index_windows}]}, statements, sentence_vectors,
//   entity_vectors, unread: [text]
// include: made_with
WITH made, EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found
CALL () {
  UNWIND $names + $other_names AS name
  CALL (name) {
    MATCH (e:Entity {corpus: $corpus, key: name})
    RETURN e
    UNION
    MATCH (:Alias {corpus: $corpus, key: name})-[r:ALIAS_OF]->(e:Entity)
    WITH e, sum(r.count) AS count ORDER BY count DESC, e.key LIMIT $meanings
    RETURN e
  }
  WITH name, e
  WHERE e.chunks > 0 AND (name IN $names OR NOT coalesce(e.type = 'noun', false))
  RETURN collect({name: name, entity: e}) AS exact, collect(DISTINCT name) AS known
}
CALL (known) {
  UNWIND $proper AS asked
  WITH asked WHERE NOT asked.name IN known AND (asked.terms = [] OR any(
    term IN asked.terms WHERE NOT EXISTS { MATCH (t:Term {term: term, corpus: $corpus}) WHERE t.windows > 0 }
  ))
  WITH asked.name AS name, asked.words AS parts,
       '+corpus:"' + replace(replace($corpus, '\\', '\\\\'), '"', '\\"') + '"^0' AS within
  WITH name, parts, [try IN range(0, 2) | reduce(query = within, part IN parts | query + ' +key:' + part[try])] AS tries
  CALL (parts, tries) {
    WITH parts, tries[0] AS query
    // include: entities_with_words
    RETURN called AS same
  }
  CALL (parts, tries, same) {
    UNWIND CASE WHEN same = [] AND tries[1] <> tries[0] THEN [tries[1]] ELSE [] END AS query
    // include: entities_with_words
    RETURN called AS near
  }
  CALL (parts, tries, same, near) {
    UNWIND CASE WHEN same = [] AND near = [] AND tries[2] <> tries[1] THEN [tries[2]] ELSE [] END AS query
    // include: entities_with_words
    RETURN called AS far
  }
  WITH name, same + near + far AS called
  UNWIND called[..$meanings] AS e
  RETURN collect({name: name, entity: e, count: size(called)}) AS similar
}
CALL (exact, known, similar) {
  WITH exact + similar AS resolved, known + [one IN similar | one.name] AS resolved_names
  UNWIND resolved AS one
  WITH resolved_names, one.name AS name, one.entity AS e
  WHERE name IN $names
     OR none(longer IN resolved_names WHERE longer <> name AND (' ' + longer + ' ') CONTAINS (' ' + name + ' '))
  WITH e, collect(name) AS names
  WITH e, names ORDER BY coalesce(e.type = 'noun', false), e.chunks, e.key
  WITH collect(e) AS ordered, collect({entity: e.key, type: e.type, names: names}) AS named
  RETURN ordered[..$limit] AS entities, named[..$limit] AS named,
         [one IN named[$limit..] | one {.entity, .names}] AS left
}
CALL (entities, named) {
  UNWIND range(0, size(entities) - 1) AS i
  UNWIND range(0, size(entities) - 1) AS j
  WITH entities[i] AS a, entities[j] AS b, named[i].names AS names, named[j].names AS others
  WHERE a.key < b.key AND NOT (size(names) = 1 AND names = others)
  MATCH p = shortestPath((a)-[:CO_OCCURS*..6]-(b))
  RETURN collect({a: a.key, b: b.key, hops: length(p)}) AS pairs
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  WITH c, collect({entity: e.key, count: m.count}) AS counts
  WHERE size(counts) > 1
  RETURN collect({chunk: c.id, document: c.document, index: c.index, counts: counts}) AS shared
}
// include: corpus_words
RETURN found, made {.embedding_model, .dimensions, .pooling, .spacy_model, .vectors} AS made_with, named, left,
       [one IN similar | {name: one.name, entity: one.entity.key, called: one.entity.name, count: one.count}] AS similar,
       pairs, shared, words, COLLECT {
         MATCH (c:Corpus {corpus: $corpus})
         WHERE EXISTS { MATCH (s:Statement {corpus: $corpus}) WHERE s.id IS NOT NULL }
         RETURN c.statements = coalesce(c.revision, 0)
       }[0] AS statements,
       COLLECT { MATCH (corpus:Corpus {corpus: $corpus}) RETURN corpus.sentence_vectors = coalesce(corpus.revision, 0) }[0]
         AS sentence_vectors,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.entity_vectors = coalesce(c.revision, 0) }[0] AS entity_vectors,
       COLLECT { MATCH (c:Corpus {corpus: $corpus}) RETURN c.unread }[0] AS unread
