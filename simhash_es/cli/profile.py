"""``simhash-es profile``: settings of fingerprints, what they mean, and tables for them."""

from __future__ import annotations

from typing import Annotated

import typer

from simhash_es.cli.expand import expanded
from simhash_es.cli.help_pages import COMMAND_SETTINGS, OWN_HELP, GroupedCommand, HelpFlag
from simhash_es.cli.options import CommonFlags, ReadFlags, offered
from simhash_es.cli.profile_flags import PRESETS, ProfileFlags
from simhash_es.cli.terminal import make_talk, print_json, print_result

profile_app = typer.Typer(
    context_settings=OWN_HELP,
    rich_markup_mode=None,
)


@profile_app.callback(invoke_without_command=True)
def start(context: typer.Context, help: HelpFlag = False) -> None:
    """Settings of fingerprints: list, show, make tables."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@profile_app.command("list", cls=GroupedCommand, context_settings=COMMAND_SETTINGS)
@expanded
def list_profiles(
    *,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines for people.")] = False,
    common: CommonFlags,
) -> None:
    """List the profiles that have a name."""
    from simhash_es.core.presets import preset, presets

    if json:
        print_json({name: {"digest": preset(name).digest, "about": about} for name, about in presets().items()})
        return
    width = max(map(len, presets()))
    print_result(f"{name:{width}}  {about}" for name, about in presets().items())


@profile_app.command("show", cls=GroupedCommand, context_settings=COMMAND_SETTINGS)
@expanded
def show_profile(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]", help="The same as --profile.", autocompletion=offered(PRESETS), show_default=False
        ),
    ] = None,
    similarity: Annotated[
        float, typer.Option("--similarity", "-s", metavar="S", help="For the distance limits.")
    ] = 0.85,
    recall: Annotated[float, typer.Option("--recall", metavar="R", help="For the distance limits.")] = 0.97,
    documents: Annotated[
        int, typer.Option("--documents", metavar="N", help="Size of the collection, for the distance limits.")
    ] = 1_000_000,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines for people.")] = False,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write the profile, for --profile FILE.")
    ] = None,
    profile: ProfileFlags,
    common: CommonFlags,
) -> None:
    """Explain a profile: settings, limits, thresholds in figures.

    Shows the settings and the digest, the distance limits for a similarity, a recall and a number of documents, and
    what they, a third and a quarter of the width catch and wrongly join.
    """
    from dataclasses import replace

    from simhash_es.cli.profile_view import profile_dict, profile_lines
    from simhash_es.core.limits import derive_limits
    from simhash_es.errors import InvalidOption

    if name is not None:
        if profile.profile not in ("default", name):
            raise InvalidOption(f"two profiles are named, {name!r} and {profile.profile!r}", "name one")
        profile = replace(profile, profile=name)
    if documents < 1:
        raise InvalidOption(f"--documents {documents} is out of range", "give at least 1")
    chosen = profile.build()
    limits = derive_limits(chosen, similarity, recall, documents)
    if save is not None:
        chosen.save(save)
    if json:
        print_json(profile_dict(chosen, limits))
    else:
        print_result(profile_lines(chosen, limits, documents))


@profile_app.command("build-idf", cls=GroupedCommand, context_settings=COMMAND_SETTINGS)
@expanded
def build_idf(
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILES", help="Files or folders; '-' is standard input.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the table goes.")],
    min_documents: Annotated[
        int, typer.Option("--min-documents", metavar="N", help="Leave out features of fewer documents.")
    ] = 2,
    profile: ProfileFlags,
    read: ReadFlags,
    common: CommonFlags,
) -> None:
    """Count in how many documents each feature occurs.

    The table is for --idf. Give the same options on how fingerprints are made as later with the table.
    """
    from simhash_es.errors import InvalidOption
    from simhash_es.use_cases.build_idf import IdfOptions, build_idf_table

    if min_documents < 1:
        raise InvalidOption(f"--min-documents {min_documents} is out of range", "give at least 1")
    table = build_idf_table(
        IdfOptions(sources=tuple(files), read=read.build(), profile=profile.build(), min_documents=min_documents),
        talk=make_talk(),
    ).save(output)
    print_result(
        [f"{output}: {len(table.frequencies):,} features of {table.n_documents:,} documents, digest {table.digest}"]
    )
