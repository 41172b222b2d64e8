// The imports that are under way or were ended before they were done.
// → corpus, run, published, at_work
MATCH (i:E2GImport)
RETURN i.corpus AS corpus, i.run AS run, i.published AS published,
       EXISTS { MATCH (r:E2GRun {id: i.run}) WHERE r.expires > timestamp() } AS at_work
