"""Summaries: the tree that decides which node stands for what, and who writes the text of a node."""
