// Whether a corpus has documents, and whether anything in the database belongs to another one, even if it is not visible.
// $corpus
// → found, others
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       EXISTS {
         MATCH (n:Corpus|Document|StagedDocument|Chunk|StagedChunk|Window|StagedWindow|Summary|StagedSummary|Entity|Alias
                  |Term|Community|StagedCommunity|OutdatedCommunity|E2GRetired|E2GImport|E2GImported)
         WHERE n.corpus <> $corpus
       } AS others
