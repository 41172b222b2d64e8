// What identifies an entity is its key, the folded form of its name. Its name is how it is written most often.
//
// An Alias is a name that stands for another entity in some documents, such as a surname alone; ALIAS_OF tells for which
// one, and in which document. Where the corpus keeps the two apart, it has the property `apart` instead.

DROP CONSTRAINT e2g_entity_key IF EXISTS;

CREATE CONSTRAINT e2g_entity_folded IF NOT EXISTS
FOR (e:Entity) REQUIRE (e.corpus, e.key) IS UNIQUE;

CREATE CONSTRAINT e2g_alias_key IF NOT EXISTS
FOR (a:Alias) REQUIRE (a.corpus, a.key) IS UNIQUE;

CREATE INDEX e2g_alias_document IF NOT EXISTS
FOR ()-[r:ALIAS_OF]-() ON (r.corpus, r.document);
