// Count the visible chunks and windows of a corpus. The rarity of entities and
// words is computed from these numbers. Its revision is one more. A corpus without visible documents gets no Corpus node,
// unless it was adopted. `unread` are at most ten losses of text, with the titles of their documents: what is said to be
// absent may be there.
// $corpus
MERGE (c:Corpus {corpus: $corpus})
WITH c
OPTIONAL MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.id IS NOT NULL
WITH c, count(d) AS documents, sum(d.chunks) AS chunks, sum(d.windows) AS windows,
     collect([loss IN d.losses WHERE any(word IN ['no text', 'missing', 'not read'] WHERE loss CONTAINS word) |
       d.title + ': ' + loss]) AS losses
WITH c, documents, chunks, windows, reduce(unread = [], some IN losses | unread + some)[..10] AS unread
SET c.chunks = chunks, c.windows = windows, c.revision = coalesce(c.revision, 0) + 1,
    c.unread = CASE WHEN size(unread) > 0 THEN unread END
WITH c, documents
WHERE documents = 0 AND c.adopts IS NULL
DELETE c
