"""Extra words for the Chinese segmenters, as a file in the format of jieba."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from simhash_es.errors import InvalidOption

# A line is: word, optional frequency, optional word class. Source: jieba 0.42.1, Tokenizer.load_userdict.
LINE = re.compile(r"^(.+?)(?: ([0-9]+))?(?: [a-z]+)?$")


@dataclass(frozen=True)
class UserDictionary:
    """A dictionary file and the digest of its content.

    Attributes:
        path: Where the file lies; not part of equality.
        digest: 32 hexadecimal digits, BLAKE2b-128 of the file's bytes.
    """

    path: str = field(compare=False)
    digest: str

    @classmethod
    def read(cls, path: str | Path) -> UserDictionary:
        """Take a file as dictionary.

        Raises:
            InvalidOption: The file cannot be read, or is not UTF-8, or holds no word.
        """
        content = read_bytes(path)
        parse_words(content, str(path))
        return cls(str(Path(path).absolute()), digest_of(content))

    def words(self) -> list[tuple[str, int | None]]:
        """The words with their frequency (``None`` where the line has none), in the order of the file.

        Raises:
            InvalidOption: The file is gone, or its content is not the one this profile was made with.
        """
        content = read_bytes(self.path)
        found = digest_of(content)
        if found != self.digest:
            raise InvalidOption(
                f"the user dictionary {self.path} has changed: its digest is {found}, the profile names {self.digest}",
                "restore the file, or make a new profile (its fingerprints cannot be compared with the old ones)",
            )
        return parse_words(content, self.path)


def read_bytes(path: str | Path) -> bytes:
    """Content of a file; errors name it."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidOption(
            f"cannot read the user dictionary {path}: {error.strerror or error}",
            "give a UTF-8 file with one word a line, as for jieba.load_userdict",
        ) from error


def digest_of(content: bytes) -> str:
    """32 hexadecimal digits for the content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def parse_words(content: bytes, path: str) -> list[tuple[str, int | None]]:
    """Words and frequencies of a dictionary file; blank lines and a byte order mark are passed over."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidOption(
            f"the user dictionary {path} is not UTF-8: byte {error.start} does not fit", "convert the file to UTF-8"
        ) from error
    words: list[tuple[str, int | None]] = []
    for line in text.splitlines():
        match = LINE.match(line.strip())
        if match is not None:
            words.append((match[1], int(match[2]) if match[2] is not None else None))
    if not words:
        raise InvalidOption(f"the user dictionary {path} holds no word", "put one word on each line")
    return words
