"""Tables as one Markdown page, or as one self-contained HTML file with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.benchmark import Interval
from kgtui.generation.reports.tables import Table, markdown_of

_TEMPLATE = "report.html.j2"
_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568")


def markdown_page(tables: Sequence[Table], *, title: str) -> str:
    """One Markdown page."""
    return "\n".join((f"# {title}", "", *("\n" + markdown_of(table) for table in tables), ""))


def html_page(
    *,
    title: str,
    tables: Sequence[Table],
    bars: Sequence[tuple[str, Interval | None]],
    curves: Sequence[tuple[str, Mapping[float, Interval]]],
    costs: Sequence[tuple[str, int, str]] = (),
) -> str:
    """One HTML file that loads nothing from elsewhere; every value in it is escaped.

    `bars` are shares of correct answers by label, `curves` fast_p by label, `costs` label, microusd and text.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kgtui.generation", "reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(_TEMPLATE).render(
        title=title,
        tables=tables,
        bars=bars,
        costs=costs,
        dearest=max((microusd for _, microusd, _ in costs), default=0) or 1,
        curves=[(label, sorted(fast.items())) for label, fast in curves if len(fast) > 1],
        colours=_COLOURS,
    )
