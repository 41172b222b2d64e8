// Note that vectors of a corpus that no question used are gone.
// $corpus, $removed: the suffix of the vectors
MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
WITH own, [suffix IN own.unused WHERE suffix <> $removed] AS unused
SET own.unused = CASE unused WHEN [] THEN null ELSE unused END
