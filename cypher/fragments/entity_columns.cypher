// What is told of an entity, but for its numbers: with up to 20 spellings, other names and types, the most frequent first.
// ← e
// = columns: key, name, type, types: [{type, count}], forms: [{form, count}], aliases: [name], description
e.key AS key, e.name AS name, e.type AS type,
[i IN range(0, size(coalesce(e.types, [])[..20]) - 1) | {type: e.types[i], count: e.type_counts[i]}] AS types,
[i IN range(0, size(coalesce(e.forms, [])[..20]) - 1) | {form: e.forms[i], count: e.form_counts[i]}] AS forms,
COLLECT { MATCH (a:Alias)-[:ALIAS_OF]->(e) RETURN DISTINCT a.name ORDER BY a.name LIMIT 20 } AS aliases,
e.description AS description
