// The revision of a corpus, those that its layers were made from, the names of the models and prompts whose reports of
// communities and statements it has, the names of its typed graph, and its schema. null: it does not have the layer, or
// its reports are extractive. `moved` tells whether it was given the vectors of another model meanwhile.
// $corpus
// → found, revision, communities, clusters, entity_vectors, sentence_vectors, statements, descriptions, report_models,
//   statement_models, typed, typed_labels, typed_types, graph_schema, moved
// include: moved
OPTIONAL MATCH (corpus:Corpus {corpus: $corpus})
RETURN corpus IS NOT NULL AS found, coalesce(corpus.revision, 0) AS revision, corpus.communities AS communities,
       corpus.clusters AS clusters, corpus.entity_vectors AS entity_vectors,
       corpus.sentence_vectors AS sentence_vectors, corpus.statements AS statements,
       corpus.descriptions AS descriptions, corpus.report_models AS report_models,
       corpus.statement_models AS statement_models, corpus.typed AS typed, corpus.typed_labels AS typed_labels,
       corpus.typed_types AS typed_types, corpus.graph_schema AS graph_schema, moved
