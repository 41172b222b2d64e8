// The revision of a corpus, the one that its statements were made from, and the names of the models and prompts whose
// replies they come from; null without statements.
// $corpus
// → found, revision, statements, models
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.statements AS statements,
       c.statement_models AS models
