"""Summaries: the summary tree, and the summarisers that write its nodes."""
