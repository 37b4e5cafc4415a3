"""`kgtui paths`: where things are kept.  Makes none of them."""

from __future__ import annotations

import argparse

from kgtui.commands.console import Console, Exit
from kgtui.paths import HOME_VARIABLE, find_paths


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the paths, one a line."""
    paths = find_paths(console.environment)
    console.say(f"data       {paths.data}")
    console.say(f"sessions   {paths.sessions}")
    console.say(f"artefacts  {paths.artefacts}")
    console.say(f"peaks      {paths.peaks}")
    console.say(f"kernels    {console.folder / 'kernels'}")
    console.say(f"Set {HOME_VARIABLE} to keep all but the kernels elsewhere. Nothing is made before it is written to.")
    return Exit.PASSED
