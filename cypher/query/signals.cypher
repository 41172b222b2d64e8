// The signals of vectors, words and entities for a question, in one round trip, with the candidate windows.
//
// Windows are searched by vector and by words, chunks by words. Activation spreads from the question's entities and
// from those of the $seeds best windows by vector and words to windows, along the mentions of the $active entities that
// can give most, until those before are in $reach chunks together. Entities in more than $hub chunks pass nothing on.
// Candidates are the windows of every chunk among the first $depth of one of the four lists. The id of a window is that of
// its chunk, "-w" and its number.
// $corpus, $vector, $names, $words: a Lucene query, $depth, $matches: how much of each list to return,
// $seeds: windows that activate, $seed_words: what the best words add to the cosine of one, $temperature: of the softmax
// over them; both relative to the range of the $depth best cosines, which depends on the embedding model,
// $own: the fraction of activation for the question's entities, $active, $reach, $hub, $without: entities that pass
// nothing on
// $documents, $overfetch: the filter, see `fragments/filtered/nearest_windows`
// $titles: words of the question that may be the titles of documents
// → word_ids, word_scores, word_chunk_ids, word_chunk_scores, spread_ids, spreads, spread_sum, spread_squares, windows,
//   candidates: [{chunk, document, index, tokens, persistence, shares, nears}], references: [{chunk, document, text,
//   windows, referring}], referred: [{chunk, document, index, tokens, persistence, shares, nears}], titled: [{document,
//   title_key}]. Each list of ids has a list of scores, best first. Sums are over all windows that are searched; `windows` is their number. A candidate lists, per window, the
//   fraction of the chunk's text and the cosine. `references` are those of the candidates, `referring` is the number of
//   chunks that refer to the document; `titled` are at most $depth documents that the question names, those with
//   the rarest titles. Both are described by their first chunks: `referred`.
MATCH (corpus:Corpus {corpus: $corpus})
CALL () {
  // include: nearest_windows, $depth for $many
  WITH w, 2 * score - 1 AS near ORDER BY round(near, 5) DESC, w.id
  WITH collect(w) AS near_windows, collect(near) AS nears, max(near) - min(near) AS scale
  RETURN near_windows, nears, CASE WHEN scale < 0.01 THEN 0.01 ELSE scale END AS scale
}
CALL () {
  // include: matching_windows, $matches for $many
  RETURN collect(w) AS word_windows, collect(w.id) AS word_ids, collect(score) AS word_scores
}
CALL () {
  // include: matching_chunks, $matches for $many
  RETURN collect(c) AS word_chunks, collect(c.id) AS word_chunk_ids, collect(score) AS word_chunk_scores
}
CALL (near_windows, nears, scale, word_windows, word_scores) {
  UNWIND near_windows + [w IN word_windows[..$depth] WHERE NOT w IN near_windows] AS w
  WITH w, [i IN range(0, size(near_windows) - 1) WHERE near_windows[i] = w | nears[i]][0] AS near,
       [i IN range(0, size(word_windows[..$depth]) - 1) WHERE word_windows[i] = w | word_scores[i]][0] AS words,
       word_scores[0] AS best
  WITH w, coalesce(near, 2 * vector.similarity.cosine(w.embedding, $vector) - 1)
          + coalesce($seed_words * scale * words / best, 0.0) AS fit
  ORDER BY round(fit, 5) DESC, w.id LIMIT $seeds
  RETURN collect(w) AS seeds, collect(fit) AS fits
}
CALL (corpus, seeds, fits, scale) {
  WITH corpus, seeds, [fit IN fits | exp((fit - fits[0]) / ($temperature * scale))] AS parts
  WITH corpus, seeds, parts, reduce(total = 0.0, part IN parts | total + part) AS total
  UNWIND range(0, size(parts) - 1) AS i
  WITH corpus, seeds[i] AS w, parts[i] / total AS share
  MATCH (w)-[:PART_OF]->(:Chunk)<-[m:FROM_CHUNK]-(e:Entity)
  WHERE m.windows[w.index] > 0
  WITH w, share, e,
       log(1 + 1.0 * corpus.chunks / e.chunks) * (1 + log(m.windows[w.index])) AS mass
  WITH w, share, collect([e, mass]) AS found, sum(mass) AS whole
  UNWIND found AS one
  RETURN collect([one[0], share * one[1] / whole]) AS from_seeds
}
CALL (corpus) {
  UNWIND $names AS name
  MATCH (e:Entity {corpus: $corpus, key: name})
  WHERE e.chunks > 0
  WITH collect([e, log(1 + 1.0 * corpus.chunks / e.chunks)]) AS found
  WITH found, reduce(total = 0.0, one IN found | total + one[1]) AS whole
  RETURN [one IN found | [one[0], one[1] / whole]] AS from_question
}
CALL (corpus, from_seeds, from_question) {
  WITH corpus, from_seeds, from_question, CASE from_question WHEN [] THEN 0.0 ELSE $own END AS own
  UNWIND [one IN from_seeds | [one[0], (1 - own) * one[1]]] + [one IN from_question | [one[0], own * one[1]]] AS one
  WITH corpus, one[0] AS e, sum(one[1]) AS activation
  WITH e, activation * log(1 + 1.0 * corpus.chunks / e.chunks) / sqrt(e.chunks) AS strength
  WHERE e.chunks <= $hub AND NOT e.key IN $without
  ORDER BY strength DESC, e.key LIMIT $active
  WITH collect([e, strength]) AS strongest
  UNWIND [i IN range(0, size(strongest) - 1)
          WHERE reduce(chunks = 0, one IN strongest[..i] | chunks + one[0].chunks) < $reach | strongest[i]] AS one
  WITH one[0] AS e, one[1] AS strength
  MATCH (e)-[m:FROM_CHUNK]->(c:Chunk)
  // include: of_documents
  WITH c, strength, m.windows AS counts
  UNWIND [i IN range(0, size(counts) - 1) WHERE counts[i] > 0 | [i, strength * (1 + log(counts[i]))]] AS part
  WITH c, part[0] AS i, sum(part[1]) AS reached
  WITH c, i, reached / sqrt(c.window_weights[i]) AS score ORDER BY score DESC, c.id, i
  WITH collect([c, i, score]) AS found, sum(score) AS spread_sum, sum(score * score) AS spread_squares
  RETURN [one IN found[..$depth] | one[0]] AS spread_chunks,
         [one IN found[..$matches] | one[0].id + '-w' + one[1]] AS spread_ids,
         [one IN found[..$matches] | one[2]] AS spreads, spread_sum, spread_squares
}
CALL (near_windows, word_windows, word_chunks, spread_chunks) {
  CALL (near_windows, word_windows, word_chunks, spread_chunks) {
    UNWIND near_windows + word_windows[..$depth] AS w
    MATCH (w)-[:PART_OF]->(c:Chunk)
    RETURN c
    UNION
    UNWIND word_chunks[..$depth] + spread_chunks AS c
    RETURN c
  }
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: c.document, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence,
    nears: COLLECT {
      MATCH (c)<-[:PART_OF]-(w:Window)
      RETURN 2 * vector.similarity.cosine(w.embedding, $vector) - 1 ORDER BY w.index
    }
  }) AS candidates, collect(c) AS chunks
}
CALL (chunks) {
  UNWIND chunks AS c
  MATCH (c)-[r:REFERS_TO]->(d:Document {corpus: $corpus})
  RETURN collect({chunk: c.id, document: d.id, text: r.text, windows: r.windows,
                  referring: COUNT { (d)<-[:REFERS_TO]-() }}) AS references
}
CALL () {
  UNWIND $titles AS title
  CALL (title) {
    MATCH (d:Document {corpus: $corpus, title_key: title})
    WHERE d.state = 'ready'
    WITH d ORDER BY d.id
    RETURN collect(d) AS bearers
  }
  UNWIND bearers[..$depth] AS d
  WITH d, size(bearers) AS number ORDER BY number, d.id LIMIT $depth
  RETURN collect({document: d.id, title_key: d.title_key}) AS titled
}
CALL (references, titled) {
  UNWIND [one IN references | one.document] + [one IN titled | one.document] AS document
  WITH DISTINCT document
  MATCH (c:Chunk {corpus: $corpus, document: document})
  // include: of_documents
  WITH c WHERE c.index = 0
  MATCH (d:Document {corpus: $corpus, id: c.document})
  RETURN collect({
    chunk: c.id, document: c.document, index: c.index, tokens: c.tokens, shares: c.window_shares,
    persistence: d.persistence,
    nears: COLLECT {
      MATCH (c)<-[:PART_OF]-(w:Window)
      RETURN 2 * vector.similarity.cosine(w.embedding, $vector) - 1 ORDER BY w.index
    }
  }) AS referred
}
// include: count_windows
RETURN word_ids, word_scores, word_chunk_ids, word_chunk_scores, spread_ids, spreads, spread_sum, spread_squares,
       windows, candidates, references, referred, titled
