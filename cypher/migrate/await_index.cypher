// Wait until an index is populated.
// $name, $seconds
CALL db.awaitIndex($name, $seconds)
