// The documents of a corpus that have one of some sources or ids, or whose sources begin with one of some folders.
// $corpus, $sources, $ids, $folders
// → id, source, sha256
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL
  AND (d.source IN $sources OR d.id IN $ids OR any(folder IN $folders WHERE d.source STARTS WITH folder))
RETURN d.id AS id, d.source AS source, d.sha256 AS sha256
ORDER BY source
