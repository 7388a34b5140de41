"""For scikit-learn: a wrapper that serves perturbed scores from any probabilistic classifier, and a scorer."""

from __future__ import annotations

from calcert.sklearn.classifier import PerturbedClassifier
from calcert.sklearn.scorer import certified_upper_scorer

__all__ = ["PerturbedClassifier", "certified_upper_scorer"]
