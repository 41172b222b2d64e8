// How many windows of a corpus contain a word.
//
// A full-text index counts words over all corpora. A Term counts the visible windows of one corpus that contain a word,
// in the form in which the index has it. `term` comes first, so that the index also finds a word in all corpora.

CREATE CONSTRAINT e2g_term_key IF NOT EXISTS
FOR (t:Term) REQUIRE (t.term, t.corpus) IS UNIQUE;
