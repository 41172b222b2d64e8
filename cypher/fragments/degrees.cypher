// How many statements there are about the ends of a relation, a and b.
// ← s, a, b, inside, links
// → s, inside, links, degree
WITH s, inside, links,
     COUNT { (a)<-[:SUBJECT|OBJECT]-(:Statement) } + COUNT { (b)<-[:SUBJECT|OBJECT]-(:Statement) } AS degree
