// Communities of entities, with a report each.
//
// `Corpus.revision` counts the transactions that changed what queries see of a corpus. `Corpus.communities` is the
// revision that its communities were made from. Staged communities are those of a run that is making them, outdated ones
// quote a chunk or name an entity that is gone: no query sees them. The vectors of outdated ones are used again, if new
// communities have the same reports.

CREATE CONSTRAINT e2g_community_key IF NOT EXISTS
FOR (c:Community) REQUIRE (c.corpus, c.id) IS UNIQUE;

CREATE INDEX e2g_staged_community_run IF NOT EXISTS
FOR (c:StagedCommunity) ON (c.corpus, c.run, c.id);

CREATE INDEX e2g_outdated_community_corpus IF NOT EXISTS
FOR (c:OutdatedCommunity) ON (c.corpus);

CYPHER 25
CREATE VECTOR INDEX e2g_community_embedding IF NOT EXISTS
FOR (c:Community) ON c.embedding
WITH [c.corpus, c.level]
OPTIONS {indexConfig: {
  `vector.dimensions`: ${nm:embedding_dimensions},
  `vector.similarity_function`: 'cosine',
  `vector.quantization.enabled`: false
}};
