"""`kgtui manual`: the list of topics, or one page.  Imports neither torch nor Textual."""

from __future__ import annotations

import argparse

from kgtui import manual
from kgtui.cli.console import Console, Exit


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the topics, or the page of one.

    Raises:
        UsageError: there is no page of that topic.
    """
    if options.topic is not None:
        console.show_markdown(manual.page(options.topic))
        return Exit.PASSED
    titles = manual.topics()
    width = max(map(len, titles))
    for topic, title in titles.items():
        console.say(f"{topic:<{width}}  {title}")
    console.say("\n`kgtui manual TOPIC` prints a page.")
    return Exit.PASSED
