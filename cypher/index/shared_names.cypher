// Which full names occur in another document that shares enough names with a document.
// $corpus, $pairs: [{document, full: name, names: {name of the document: true}, least: number of them to share}]
// → document, full
UNWIND $pairs AS row
WITH row
WHERE EXISTS {
    MATCH (other:Document {corpus: $corpus})
    WHERE other.id <> row.document AND row.full IN other.names
      AND size([name IN other.names WHERE row.names[name]]) >= row.least
  }
RETURN row.document AS document, row.full AS full
