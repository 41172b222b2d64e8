// Note which layers an imported corpus has: they are out of date, and made from what the archive has of them.
// $corpus, $rows: [{communities, clusters, entity_vectors, sentence_vectors, descriptions, statements,
//   statement_models, report_models}], one row. The first six: whether it has the layer
UNWIND $rows AS row
MATCH (corpus:Corpus {corpus: $corpus})
SET corpus.communities = CASE WHEN row.communities THEN 0 END,
    corpus.clusters = CASE WHEN row.clusters THEN 0 END,
    corpus.entity_vectors = CASE WHEN row.entity_vectors THEN 0 END,
    corpus.sentence_vectors = CASE WHEN row.sentence_vectors THEN 0 END,
    corpus.descriptions = CASE WHEN row.descriptions THEN 0 END,
    corpus.statements = CASE WHEN row.statements THEN 0 END,
    corpus.statement_models = row.statement_models, corpus.report_models = row.report_models
