// Record that a name means another entity in a document, which is called by it and the title.
// $corpus, $key: that of the name, $document: its id, $title
MERGE (a:Alias {corpus: $corpus, key: $key})
WITH a, [i IN range(0, size(coalesce(a.documents, [])) - 1) WHERE a.documents[i] <> $document] AS others
OPTIONAL MATCH (e:Entity {corpus: $corpus, key: $key})
SET a.documents = [i IN others | a.documents[i]] + [$document],
    a.senses = [i IN others | a.senses[i]] + [coalesce(e.name, $key) + ', ' + $title]
