// Record which layers of an imported corpus are up to date.
// $corpus, $layers: {communities, clusters, entity_vectors, statements, statement_models, report_models}. The first four:
//   whether they are, null without the layer
MATCH (c:Corpus {corpus: $corpus})
SET c.communities = CASE $layers.communities WHEN true THEN c.revision WHEN false THEN 0 END,
    c.clusters = CASE $layers.clusters WHEN true THEN c.revision WHEN false THEN 0 END,
    c.entity_vectors = CASE $layers.entity_vectors WHEN true THEN c.revision WHEN false THEN 0 END,
    c.statements = CASE $layers.statements WHEN true THEN c.revision WHEN false THEN 0 END,
    c.statement_models = $layers.statement_models, c.report_models = $layers.report_models
