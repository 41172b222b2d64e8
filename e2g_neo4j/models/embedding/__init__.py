"""Embedding models, and the windows in which they embed long texts."""
