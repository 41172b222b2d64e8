// The first relationship of an archive that could not be written, with a label of each end; null for a missing node.
// $corpus, $rows: [{a, type, b, starts: [label], ends: [label]}]
// → number, type, a, b. number: from 0
UNWIND range(0, size($rows) - 1) AS number
WITH number, $rows[number] AS row
OPTIONAL MATCH (a:E2GImported {corpus: $corpus, import_key: row.a})
OPTIONAL MATCH (b:E2GImported {corpus: $corpus, import_key: row.b})
WITH number, row, coalesce(labels(a), []) AS a, coalesce(labels(b), []) AS b
WHERE NOT any(label IN a WHERE label IN row.starts) OR NOT any(label IN b WHERE label IN row.ends)
RETURN number, row.type AS type, [label IN a WHERE label <> 'E2GImported'][0] AS a,
       [label IN b WHERE label <> 'E2GImported'][0] AS b
ORDER BY number LIMIT 1
