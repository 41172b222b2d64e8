// The revision of a corpus, the one that its communities were made from, and the names of the models and prompts whose
// reports they have; null without communities, or if the reports are extractive.
// $corpus
// → found, revision, communities, report_models
OPTIONAL MATCH (c:Corpus {corpus: $corpus})
RETURN c IS NOT NULL AS found, coalesce(c.revision, 0) AS revision, c.communities AS communities,
       c.report_models AS report_models
