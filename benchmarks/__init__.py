"""Commands that make the figures of docs/benchmarks.md. Each measures both sides in one run and prints ratios."""
