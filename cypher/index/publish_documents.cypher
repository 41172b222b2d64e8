// Set documents to `ready`. Queries see them from the end of this transaction; which chunks name them is found later.
// `properties` are those of the user as they are stored, which replace all that the document has; null keeps these.
// $corpus, $rows: [{id, title, source, properties, sha256, chunker, extractor, characters, tokens, chunks, windows,
//   persistence, losses, link_starts, link_ends, link_targets}]
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, id: row.id})
SET d.title = row.title, d.source = row.source, d.sha256 = row.sha256, d.chunker = row.chunker,
    d.extractor = row.extractor, d.characters = row.characters, d.tokens = row.tokens, d.chunks = row.chunks,
    d.windows = row.windows, d.persistence = row.persistence, d.losses = row.losses,
    d.link_starts = row.link_starts, d.link_ends = row.link_ends, d.link_targets = row.link_targets,
    d.changed = timestamp(), d.state = 'ready'
REMOVE d.run, d.work, d.error, d.claimed_properties, d.title_key
FOREACH (properties IN CASE WHEN row.properties IS NULL THEN [] ELSE [row.properties] END |
  FOREACH (name IN [name IN keys(d) WHERE name STARTS WITH 'meta_'] | SET d[name] = null)
  SET d += properties
)
