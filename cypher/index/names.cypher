// The names of people, by key, in all documents of a corpus that have one of these words, with their occurrences.
// $corpus, $any_words: {word: true}, a map, because a list would be searched for each name
// → name, count
MATCH (d:Document {corpus: $corpus})
WHERE d.id IS NOT NULL AND d.names IS NOT NULL
UNWIND range(0, size(d.names) - 1) AS i
WITH d.names[i] AS name, d.name_counts[i] AS count
WHERE any(word IN split(name, ' ') WHERE $any_words[word])
RETURN name, sum(count) AS count ORDER BY name
