"""`kgtui paths` prints where things are kept, and makes nothing."""

from __future__ import annotations


def test_the_paths_are_printed_and_not_made(typed, home, folder):
    ended = typed("paths")
    assert ended.exit_code == 0
    assert ended.out.splitlines() == [
        f"data       {home}",
        f"sessions   {home}/sessions.db",
        f"artefacts  {home}/artefacts",
        f"peaks      {home}/peaks",
        f"config     {home}/config.toml  (does not exist; kgtui config init creates it)",
        f"prices     {home}/prices.toml  (optional, does not exist; kgtui manual models describes it)",
        f"prompts    {home}/prompts  (optional, does not exist; kgtui manual models describes it)",
        f"kernels    {folder}/kernels",
        "Set KGTUI_HOME to store all but the kernels elsewhere. Directories are created on first use.",
    ]
    assert not home.exists()
