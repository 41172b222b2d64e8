// Take the lock of a corpus. Return one row if it knows the same names of nodes with a label as before, else none.
// $corpus, $label, $version: that of the names, '' if there are none
// → held
// include: lock
WHERE $version = coalesce(COLLECT { MATCH (n:E2GLinkedNames {corpus: $corpus, label: $label}) RETURN n.version }[0], '')
RETURN true AS held
