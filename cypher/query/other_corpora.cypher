// Whether a corpus has documents, and whether anything in the database belongs to another one, even if it is not visible,
// or is an upload or a task of the service that is for another one.
// $corpus
// → found, others
RETURN EXISTS { MATCH (d:Document {corpus: $corpus, state: 'ready'}) WHERE d.id IS NOT NULL } AS found,
       EXISTS {
         MATCH (n:Corpus|Document|Chunk|StagedChunk|Window|StagedWindow|Summary|StagedSummary|Entity|Alias
                  |Term|Community|StagedCommunity|OutdatedCommunity|E2GRetired)
         WHERE n.corpus <> $corpus
       } OR EXISTS { MATCH (t:E2GTask) WHERE t.corpus_name <> $corpus }
         OR EXISTS {
           MATCH (b:E2GBlob)
           WHERE b.task IS NOT NULL AND b.file IS NOT NULL AND b.part IS NOT NULL
             AND NOT EXISTS { MATCH (:E2GTask {id: b.task, corpus_name: $corpus}) }
         } AS others
