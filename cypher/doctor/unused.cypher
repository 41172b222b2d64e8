// The corpora that have vectors that no question uses, because they are being reindexed, or a run that did so was interrupted.
// → corpus
MATCH (i:E2GIndex)
WHERE i.name IS NOT NULL AND i.unused IS NOT NULL
RETURN i.corpus AS corpus ORDER BY corpus
