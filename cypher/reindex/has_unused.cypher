// Take the lock of a corpus. Return one row if nodes have vectors of a model, which is not the one that the corpus is asked
// with, else none.
// $corpus
// → found
// include: lock
// include: moved
WITH moved
WHERE moved
// include: nodes_with_vectors
WITH n LIMIT 1
RETURN true AS found
