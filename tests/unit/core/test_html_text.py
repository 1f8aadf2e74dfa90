"""HTML to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simhash_es.core.html_text import html_to_text

PIECES = [
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<style",
    '"',
    "'",
    "=",
    "&",
    "&amp;",
    "&#x",
]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("plain text", "plain text"),
        ("<p>one</p><p>two</p>", "\none\n\ntwo\n"),
        ("one<br>two<BR/>three", "one\ntwo\nthree"),
        ("fish<b>ing</b> <a href='x'>boat</a>", "fishing boat"),
        ("<td>a</td><td>b</td>", "\na\n\nb\n"),
        ("Fish &amp; chips &lt;b&gt; &#20013;&#x6587;&nbsp;&hellip;", "Fish & chips <b> 中文\xa0…"),
        ("a<script>if (a < b) { x('</p>') }</script>b", "ab"),
        ("a<SCRIPT src=x>y</Script >b", "ab"),
        ("a<style>p > b {}</style>b<template><p>x</p></template>c", "abc"),
        ("a<!-- <p>no</p> -->b", "ab"),
        ("<!DOCTYPE html><?xml version='1.0'?>a", "a"),
        ('a<img alt="1 > 2" src=x>b', "a\nb"),
        ("<title>Ferry</title>", "\nFerry\n"),
        ("1 < 2 and 3 > 2 <3", "1 < 2 and 3 > 2 <3"),
        ("a<scripted>b</scripted>c", "abc"),
        ("a<script/>b", "ab"),
    ],
)
def test_html_to_text(source: str, text: str) -> None:
    """Tags go, blocks begin lines, entities are characters, scripts are no text."""
    assert html_to_text(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a<p", "a<p"),
        ("a<p class='x", "a<p class='x"),
        ("a<p class='x>b</p>c", "a\nb\nc"),
        ("a<script>b", "a"),
        ("a<!-- b", "a"),
        ("a</script>b", "ab"),
        ("a</>b<>c", "a</>b<>c"),
        ("a&b &amp &bogus; &#xZZ; &#1114112;", "a&b & &bogus; &#xZZ; \ufffd"),
    ],
)
def test_broken_html(source: str, text: str) -> None:
    """What is left open ends with the page; what is no tag is text."""
    assert html_to_text(source) == text


@given(st.lists(st.sampled_from([*PIECES, "a", " ", "中"]) | st.text(max_size=3), max_size=30).map("".join))
def test_any_input_gives_text(source: str) -> None:
    """Nothing raises, and text grows by no more than a newline for each tag."""
    assert len(html_to_text(source)) <= len(source)


@given(st.text(st.characters(exclude_characters="<&")))
def test_text_without_markup_is_unchanged(text: str) -> None:
    """There is nothing to remove."""
    assert html_to_text(text) == text


@pytest.mark.parametrize(
    "piece", ["<", "<p ", "<p '", '<p a="', "<!--", "<script>", "<?", "</script", "&", "<p a='b' ", '<a">']
)
def test_many_open_tags_take_linear_work(piece: str) -> None:
    """A megabyte of the same broken piece is a matter of moments, not hours."""
    assert len(html_to_text(piece * (1_000_000 // len(piece)))) <= 1_000_000
