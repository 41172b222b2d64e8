// Make sure that entities exist. Names come sorted, so that concurrent writers lock in one order.
// $corpus, $names
UNWIND $names AS name
MERGE (:Entity {corpus: $corpus, name: name})
