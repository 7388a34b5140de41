"""Results for machines: JUnit, Prometheus."""
