// Read what the manifest of an archive says of a corpus: how it was adopted (if it was), what it was made with, the suffix
// of its indexes, its layers, and the numbers of its nodes and relationships.
// $corpus
// → found, adopts, made_with: {embedding_model, dimensions, pooling, spacy_model}, vectors, layers, nodes, relationships
// include: made_with
OPTIONAL MATCH (corpus:Corpus {corpus: $corpus})
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       corpus.adopts AS adopts, made {.embedding_model, .dimensions, .pooling, .spacy_model} AS made_with,
       made.vectors AS vectors,
       {
         communities: corpus.communities IS NOT NULL, clusters: corpus.clusters IS NOT NULL,
         entity_vectors: corpus.entity_vectors IS NOT NULL, sentence_vectors: corpus.sentence_vectors IS NOT NULL,
         descriptions: corpus.descriptions IS NOT NULL, statements: corpus.statements IS NOT NULL,
         statement_models: corpus.statement_models, report_models: corpus.report_models
       } AS layers,
       COUNT {
         MATCH (n:Document|Chunk|Window|Summary|Entity|Alias|Corpus|Community|Cluster|Statement)
         WHERE n.corpus = $corpus AND (NOT n:Entity OR n.chunks > 0)
       } AS nodes,
       COUNT {
         MATCH (a:Document|Chunk|Window|Summary|Entity|Alias|Community|Cluster|Statement)
               -[:FROM_DOCUMENT|NEXT_CHUNK|CHILD_OF|PART_OF|FROM_CHUNK|CO_OCCURS|ALIAS_OF|IN_COMMUNITY|QUOTES|PARENT
                 |IN_CLUSTER|STATED_IN|SUBJECT|OBJECT]->(:Document|Chunk|Summary|Entity|Community|Cluster)
         WHERE a.corpus = $corpus
       } AS relationships
