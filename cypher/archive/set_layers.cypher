// Note which layers an imported corpus has: they are out of date, and made from what the archive has of them.
// $corpus, $rows: [{communities, clusters, entity_vectors, sentence_vectors, statements, statement_models, report_models}], one
//   row. The first five: whether it has the layer
UNWIND $rows AS row
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.communities = CASE WHEN row.communities THEN 0 END,
    corpus.clusters = CASE WHEN row.clusters THEN 0 END,
    corpus.entity_vectors = CASE WHEN row.entity_vectors THEN 0 END,
    corpus.sentence_vectors = CASE WHEN row.sentence_vectors THEN 0 END,
    corpus.statements = CASE WHEN row.statements THEN 0 END,
    corpus.statement_models = row.statement_models, corpus.report_models = row.report_models
