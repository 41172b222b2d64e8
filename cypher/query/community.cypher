// A community: its report, the members that most chunks mention, at most $limit, the
// community that it is a part of, and its own parts.
// $corpus, $community: id, $limit
// → id, title, level, text, entities, members: [{key, name, type, chunks}], within: {id, title}, parts: [{id, title}].
//   entities: how many members there are; within: null on the coarsest level
MATCH (c:Community {corpus: $corpus, id: $community})
RETURN c.id AS id, c.title AS title, c.level AS level, c.text AS text, c.entities AS entities,
       COLLECT {
         MATCH (c)<-[:IN_COMMUNITY]-(e:Entity)
         RETURN {key: e.key, name: e.name, type: e.type, chunks: e.chunks} ORDER BY e.chunks DESC, e.key LIMIT $limit
       } AS members,
       COLLECT { MATCH (c)-[:PARENT]->(p:Community) RETURN {id: p.id, title: p.title} LIMIT 1 }[0] AS within,
       COLLECT {
         MATCH (c)<-[:PARENT]-(p:Community)
         RETURN {id: p.id, title: p.title} ORDER BY p.entities DESC, p.id LIMIT $limit
       } AS parts
