// What is listed of documents. If `visible` is true in a state other than ready, queries see the previous version.
// `properties` are those of the user, as they are stored.
// ← d, state, why
// → id, title, source, state, why, visible, chunks, characters, tokens, properties: [[name, value]], losses: [text]
WITH d.id AS id, d.title AS title, d.source AS source, state, why,
     coalesce(d.state = 'ready', false) AS visible,
     COUNT { (d)<-[:FROM_DOCUMENT]-(:Chunk) } AS chunks,
     coalesce(d.characters, 0) AS characters, coalesce(d.tokens, 0) AS tokens,
     [name IN keys(d) WHERE name STARTS WITH 'meta_' | [name, d[name]]] AS properties,
     coalesce(d.losses, []) AS losses
