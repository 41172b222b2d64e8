// The text of an adopted text node: its text properties that are no empty texts, joined by blank lines.
// ← theirs, r: {text: [name of a property]}
// = an expression, a text
substring(reduce(joined = '', property IN r.text |
  CASE WHEN theirs[property] IS :: STRING NOT NULL AND theirs[property] <> ''
    THEN joined + '\n\n' + theirs[property]
    ELSE joined
  END), 2)
