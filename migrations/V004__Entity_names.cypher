// The words of the names of entities, to find one by a part of its name, or by a name with a typing error.

// part: core
// Keys are folded already, so the analyzer only divides them at spaces: a word that begins with ~ or * is still one. It
// divides the name of a corpus too, which is looked for as a phrase, and then compared.
CREATE FULLTEXT INDEX e2g_name_words IF NOT EXISTS
FOR (n:Entity|Alias) ON EACH [n.corpus, n.key]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
