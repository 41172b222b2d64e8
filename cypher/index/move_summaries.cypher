// Update the position and input of unchanged summaries.
// $corpus, $rows: [{id, index, start, end, made_of, notes}]
UNWIND $rows AS row
MATCH (s:Summary {corpus: $corpus, id: row.id})
SET s.index = row.index, s.start = row.start, s.end = row.end, s.made_of = row.made_of, s.notes = row.notes,
    s.notes_of = null
