// What is listed of documents. If `visible` is true in a state other than ready, queries see the previous version.
// `properties` are those of the user, as they are stored.
// ← d, state, why
// → id, title, source, state, why, visible, chunks, characters, tokens, properties: [[name, value]], losses: [text],
//   language: code, changed: milliseconds since 1970. Both are null until queries see the document
WITH d.id AS id, d.title AS title, d.source AS source, state, why,
     coalesce(d.state = 'ready', false) AS visible,
     COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
     coalesce(d.characters, 0) AS characters, coalesce(d.tokens, 0) AS tokens,
     [name IN keys(d) WHERE name STARTS WITH 'meta_' | [name, d[name]]] AS properties,
     coalesce(d.losses, []) AS losses, d.changed AS changed,
     CASE WHEN d.extractor IS NOT NULL THEN split(coalesce(split(d.extractor, '+')[1], COLLECT {
       MATCH (i:E2GIndex) WHERE i.name IN ['e2g', 'e2g/' + d.corpus]
       RETURN i.spacy_model ORDER BY i.name DESC LIMIT 1
     }[0]), '_')[0] END AS language
