// What refers to a document, by its title or by hyperlinks: the chunks with the documents that they are of.
// $corpus, $referred: title of the document
// :params {corpus: "sample", referred: "Osmay Philosophical and Natural History Society"}
// → refers
MATCH (d:Document {corpus: $corpus, title: $referred})
WHERE d.id IS NOT NULL
MATCH refers = (other:Document)<-[:FROM_DOCUMENT]-(c:Chunk)-[:REFERS_TO]->(d)
RETURN refers ORDER BY other.title, c.index LIMIT 50
