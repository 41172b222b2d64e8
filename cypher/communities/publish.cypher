// Make the staged communities of a run visible, in place of all others but $kept. `index/purge` removes the nodes.
// $corpus, $run, $revision: what they were made from, $kept: [id], $models: the names of the models and prompts whose
//   reports they have, null if these are extractive. Descriptions are made from such reports, so others make them out of
//   date
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.descriptions = corpus.descriptions
      - CASE coalesce($models, []) WHEN coalesce(corpus.report_models, []) THEN 0 ELSE 1 END
SET corpus.communities = $revision, corpus.report_models = $models
WITH corpus
CALL () {
  MATCH (c:Community {corpus: $corpus})
  WHERE c.id IS NOT NULL AND NOT c.id IN $kept
  REMOVE c:Community
  SET c:E2GRetired
}
CALL () {
  MATCH (c:OutdatedCommunity {corpus: $corpus})
  REMOVE c:OutdatedCommunity
  SET c:E2GRetired
}
CALL () {
  MATCH (c:StagedCommunity {corpus: $corpus, run: $run})
  WHERE c.id IS NOT NULL
  REMOVE c:StagedCommunity, c.run
  SET c:Community
}
