// Find the chunks of documents with a hyperlink to a document that is new: they are to be read again.
// $corpus, $targets: {target of a hyperlink: true}
MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.link_targets IS NOT NULL AND any(target IN d.link_targets WHERE $targets[target])
MATCH (c:Chunk {corpus: $corpus, document: d.id})
SET c:UnlinkedChunk
