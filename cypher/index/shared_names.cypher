// Which full names occur in another document that shares some name with a document.
// $corpus, $pairs: [{document, full: name, names: [name of the document]}]
// → document, full
UNWIND $pairs AS row
WITH row
WHERE EXISTS {
    MATCH (other:Document {corpus: $corpus})
    WHERE other.id <> row.document AND row.full IN other.names AND any(name IN row.names WHERE name IN other.names)
  }
RETURN row.document AS document, row.full AS full
