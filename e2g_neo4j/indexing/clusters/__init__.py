"""Clusters of chunks and of other clusters, with a summary each: the tree of RAPTOR."""
