// The revision of a corpus, those that its layers were made from, and the names of the models and prompts whose reports
// of communities and statements it has. null: it does not have the layer, or its reports are extractive.
// $corpus
// → found, revision, communities, clusters, entity_vectors, sentence_vectors, statements, report_models,
//   statement_models
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.communities AS communities,
       c.clusters AS clusters, c.entity_vectors AS entity_vectors, c.sentence_vectors AS sentence_vectors,
       c.statements AS statements,
       c.report_models AS report_models, c.statement_models AS statement_models
