"""Embeddings: how long texts are cut and pooled (`embedder`), and the models that embed."""
