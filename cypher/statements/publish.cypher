// Make the staged statements of a run visible, in place of $outdated. `index/purge` removes the nodes. Communities,
// descriptions and the typed graph are made from statements, so they are then out of date.
// $corpus, $run, $revision: what they were made from, $models: the names of the models and prompts, $outdated: [id],
//   $changed: whether there are other statements than before
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.statements = $revision, corpus.statement_models = $models,
    corpus.communities = corpus.communities - CASE WHEN $changed THEN 1 ELSE 0 END,
    corpus.descriptions = corpus.descriptions - CASE WHEN $changed THEN 1 ELSE 0 END,
    corpus.typed = corpus.typed - CASE WHEN $changed THEN 1 ELSE 0 END
WITH corpus
CALL () {
  UNWIND $outdated AS id
  MATCH (about:Statement {corpus: $corpus, id: id})
  // include: hide_typed
  REMOVE about:Statement
  SET about:E2GRetired
}
CALL () {
  MATCH (s:StagedStatement {corpus: $corpus, run: $run})
  WHERE s.id IS NOT NULL
  REMOVE s:StagedStatement, s.run
  SET s:Statement
}
