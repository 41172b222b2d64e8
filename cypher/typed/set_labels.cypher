// Give entities other labels of the typed graph.
// $corpus, $rows: [{key, label, before}]. label, before: null for none
UNWIND $rows AS row
MATCH (e:Entity {corpus: $corpus, key: row.key})
REMOVE e:$(CASE WHEN row.before IS NULL THEN [] ELSE [row.before] END)
SET e:$(CASE WHEN row.label IS NULL THEN [] ELSE [row.label] END)
SET e.typed_label = row.label
