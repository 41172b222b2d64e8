// Record which layers of an imported corpus are up to date.
// $corpus, $rows: [{communities, clusters, entity_vectors, sentence_vectors, descriptions, statements,
//   statement_models, report_models}], one row. The first six: whether the layer is up to date, null without it
UNWIND $rows AS row
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.communities = CASE row.communities WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.clusters = CASE row.clusters WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.entity_vectors = CASE row.entity_vectors WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.sentence_vectors = CASE row.sentence_vectors WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.descriptions = CASE row.descriptions WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.statements = CASE row.statements WHEN true THEN corpus.revision WHEN false THEN 0 END,
    corpus.statement_models = row.statement_models, corpus.report_models = row.report_models
