"""Tables as one Markdown page, or as one self-contained HTML file with plots."""

from __future__ import annotations

from collections.abc import Sequence

from kgtui.generation.reports.charts import HEIGHT, WIDTH, BarChart, Chart
from kgtui.generation.reports.tables import Table, markdown_of

_TEMPLATE = "report.html.j2"
_COLOURS = 6  # number of colours in the template, for light and dark pages


def markdown_page(tables: Sequence[Table], *, title: str) -> str:
    """One Markdown page."""
    return "\n".join((f"# {title}", "", *("\n" + markdown_of(table) for table in tables), ""))


def html_page(
    *,
    title: str,
    tables: Sequence[Table],
    bars: Sequence[BarChart] = (),
    charts: Sequence[Chart] = (),
    summary: str = "",
) -> str:
    """One HTML file that loads nothing from elsewhere; every value in it is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kgtui.generation", "reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(_TEMPLATE).render(
        title=title,
        summary=summary,
        tables=tables,
        bars=bars,
        charts=charts,
        width=WIDTH,
        height=HEIGHT,
        colours=_COLOURS,
    )
    return page.lstrip()
