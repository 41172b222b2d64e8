// Whether a node with one of these labels belongs to another corpus, or a relationship of one of these types leads to one.
// $corpus, $labels: [label], $types: [type]
// → others
RETURN EXISTS { MATCH (n:$any($labels)) WHERE n.corpus <> $corpus } OR
       EXISTS { MATCH ()-[:$any($types)]-(n) WHERE n.corpus <> $corpus } AS others
