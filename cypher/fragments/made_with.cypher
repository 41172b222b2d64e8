// The models of a corpus: its own record, or that of the first models of the database.
// $corpus
// → made: an E2GIndex, or null
OPTIONAL MATCH (own:E2GIndex {name: 'e2g/' + $corpus})
OPTIONAL MATCH (first:E2GIndex {name: 'e2g'})
WITH coalesce(own, first) AS made
