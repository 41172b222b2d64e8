// The revision of a corpus, those that its layers were made from, and the names of the models and prompts whose reports
// of communities and statements it has. null: it does not have the layer, or its reports are extractive. `moved` tells
// whether it was given the vectors of another model meanwhile.
// $corpus
// → found, revision, communities, clusters, entity_vectors, sentence_vectors, statements, descriptions, report_models,
//   statement_models, moved
// include: moved
OPTIONAL MATCH (corpus:Corpus {corpus: $corpus})
RETURN corpus IS NOT NULL AS found, coalesce(corpus.revision, 0) AS revision, corpus.communities AS communities,
       corpus.clusters AS clusters, corpus.entity_vectors AS entity_vectors,
       corpus.sentence_vectors AS sentence_vectors, corpus.statements AS statements,
       corpus.descriptions AS descriptions, corpus.report_models AS report_models,
       corpus.statement_models AS statement_models, moved
