// Make the staged statements of a run visible, in place of $outdated. `index/purge` removes the nodes.
// $corpus, $run, $revision: what they were made from, $models: the names of the models and prompts, $outdated: [id]
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.statements = $revision, corpus.statement_models = $models
WITH corpus
CALL () {
  UNWIND $outdated AS id
  MATCH (s:Statement {corpus: $corpus, id: id})
  REMOVE s:Statement
  SET s:E2GRetired
}
CALL () {
  MATCH (s:StagedStatement {corpus: $corpus, run: $run})
  WHERE s.id IS NOT NULL
  REMOVE s:StagedStatement, s.run
  SET s:Statement
}
