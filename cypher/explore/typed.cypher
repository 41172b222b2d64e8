// The typed graph around an entity: the relationships that statements have made of it, those of most statements first.
// $corpus, $name
// :params {corpus: "sample", name: "Luke Farran"}
// → typed
MATCH typed = (:Entity {corpus: $corpus, name: $name})-[r]-(:Entity {corpus: $corpus})
WHERE r.statements IS NOT NULL
RETURN typed ORDER BY r.count DESC, elementId(r) LIMIT 50
