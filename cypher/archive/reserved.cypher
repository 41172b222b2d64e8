// List the imports that are running or were interrupted.
// → corpus, run, published, at_work
MATCH (i:E2GImport)
RETURN i.corpus AS corpus, i.run AS run, i.published AS published,
       EXISTS { MATCH (r:E2GRun {id: i.run}) WHERE r.expires > timestamp() } AS at_work
