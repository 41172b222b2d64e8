// Record which layers of an imported corpus are up to date.
// $corpus, $rows: [{communities, clusters, entity_vectors, sentence_vectors, statements, statement_models,
//   report_models}], one row. The first five: whether the layer is up to date, null without it
UNWIND $rows AS row
MATCH (c:Corpus {corpus: $corpus})
SET c.communities = CASE row.communities WHEN true THEN c.revision WHEN false THEN 0 END,
    c.clusters = CASE row.clusters WHEN true THEN c.revision WHEN false THEN 0 END,
    c.entity_vectors = CASE row.entity_vectors WHEN true THEN c.revision WHEN false THEN 0 END,
    c.sentence_vectors = CASE row.sentence_vectors WHEN true THEN c.revision WHEN false THEN 0 END,
    c.statements = CASE row.statements WHEN true THEN c.revision WHEN false THEN 0 END,
    c.statement_models = row.statement_models, c.report_models = row.report_models
