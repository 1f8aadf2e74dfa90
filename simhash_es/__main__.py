"""``python -m simhash_es`` is the command ``simhash-es``."""

from __future__ import annotations

from simhash_es.cli.main import main

if __name__ == "__main__":
    main()
