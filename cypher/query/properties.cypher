// Up to 100 names of the properties that the user gave to the documents of a corpus, as they are stored; first these.
// $corpus, $names
// → property
MATCH (d:Document {corpus: $corpus, state: 'ready'})
WHERE d.id IS NOT NULL
UNWIND [name IN keys(d) WHERE name STARTS WITH 'meta_'] AS property
WITH DISTINCT property
RETURN property ORDER BY NOT property IN $names, property LIMIT 100
