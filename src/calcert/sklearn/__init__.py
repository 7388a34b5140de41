"""For scikit-learn: a wrapper that returns perturbed scores from any probabilistic classifier, a scorer, a display."""

from __future__ import annotations

from calcert.foundation.refusal import needed

with needed("calcert.sklearn needs", "sklearn", "sklearn"):
    from calcert.sklearn.certified_calibration import CertifiedCalibration
    from calcert.sklearn.classifier import PerturbedClassifier
    from calcert.sklearn.display import CertifiedCalibrationDisplay
    from calcert.sklearn.scorer import certified_upper_scorer

__all__ = ["CertifiedCalibration", "CertifiedCalibrationDisplay", "PerturbedClassifier", "certified_upper_scorer"]
