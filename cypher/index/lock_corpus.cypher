// Take the lock that publishers of a corpus hold until their transaction ends, so that one goes after the other.
// $corpus
MERGE (c:Corpus {corpus: $corpus})
SET c.locked = true
REMOVE c.locked
