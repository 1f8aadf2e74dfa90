"""The named profiles."""

from __future__ import annotations

import pytest

from simhash_es.core.presets import PRESETS, preset, presets
from simhash_es.errors import InvalidOption


def test_each_preset_is_described() -> None:
    """Names, descriptions and the profiles' own names agree."""
    assert list(presets()) == list(PRESETS)
    assert all(preset(name).name == name and text for name, text in presets().items())


def test_presets_differ() -> None:
    """No two presets are the same profile."""
    assert len({profile.digest for profile in PRESETS.values()}) == len(PRESETS)


def test_unknown_preset() -> None:
    """The hint lists all presets."""
    with pytest.raises(InvalidOption, match="fast") as caught:
        preset("fast")
    assert all(name in caught.value.hint for name in PRESETS)


def test_descriptions_are_a_copy() -> None:
    """A caller cannot change them."""
    presets().clear()
    assert presets()
