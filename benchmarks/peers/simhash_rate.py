"""Rate of PyPI ``simhash`` (texts) or ``python-simhash`` (ready tokens): python simhash_rate.py KIND TEXTS.json"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    import simhash

    kind, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as stream:
        texts = json.load(stream)
    if kind == "tokens":
        tokens = [text.split(" ") for text in texts]
        began = time.process_time()
        for one in tokens:
            simhash.simhash(one, hasher="xxh3")
    else:
        began = time.process_time()
        for text in texts:
            simhash.Simhash(text)
    print(time.process_time() - began)


if __name__ == "__main__":
    main()
