// The names of the user's nodes that a corpus was linked with, by their label. They are found in its texts.
//
// `version` is a hash of the names and their type. `changed` are names whose documents may not have been updated.

CREATE CONSTRAINT e2g_linked_names_key IF NOT EXISTS
FOR (n:E2GLinkedNames) REQUIRE (n.corpus, n.label) IS UNIQUE;
