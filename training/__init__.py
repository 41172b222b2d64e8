"""Trains the bundled pipeline. One thread for each matrix product, as two models are trained side by side."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
