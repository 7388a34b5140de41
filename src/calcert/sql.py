"""Texts for databases: the query that counts rows where they are, and the expression that perturbs a score."""

from __future__ import annotations

from calcert.perturbation.noise import perturb_sql
from calcert.sources.engines.sql_query import summary_query

__all__ = ["perturb_sql", "summary_query"]
