// Take the lock of a corpus. Return one row if what was decided by hand about its names is still this, else none.
// $corpus, $overrides: [[key, key of the other name or '']], sorted
// → held
// include: lock
WITH locked AS held
WHERE $overrides =
  // include: decided_names
RETURN held
