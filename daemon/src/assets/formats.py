"""Adds the media types of E2B to what an interpreter shows. Imports no library that the code has not imported.

Their values are JSON as text, because 1.0 would become 1 on its way through the daemon.
"""

import json
import sys

# The daemon moves a longer value into a file. A value in a frame or a list takes at least two characters.
MOST_CHARACTERS = 1_000_000
MOST_VALUES = MOST_CHARACTERS // 2


def data_of(value):
    """The columns of a pandas DataFrame."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.DataFrame) or value.size > MOST_VALUES:
        return None
    objects = value.astype(object).where(value.notna(), None)
    return as_json({str(name): objects.iloc[:, at].tolist() for at, name in enumerate(objects.columns)}, str)


def chart_of(value):
    """What a matplotlib figure draws, where e2b_charts is installed."""
    module = sys.modules.get("matplotlib.figure")
    if module is None or not isinstance(value, module.Figure):
        return None
    from e2b_charts import chart_figure_to_dict

    return as_json(chart_figure_to_dict(value) or None, str)


def json_of(value):
    return as_json(value, refuse) if isinstance(value, (dict, list)) and len(value) <= MOST_VALUES else None


def as_json(value, other):
    """Values of JSON only: null for NaN, text for dates, lists for arrays."""

    def plain(one):
        for name in ("isoformat", "tolist"):
            if hasattr(type(one), name):
                return getattr(one, name)()
        return other(one)

    if value is None:
        return None
    text = json.dumps(value, default=plain)
    text = json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= MOST_CHARACTERS else None


def refuse(value):
    raise TypeError(type(value))


def quietly(form):
    def ask(value):
        try:
            return form(value)
        except Exception:
            return None  # The other media types show the value.

    return ask


FORMATS = {"e2b/json": quietly(json_of), "e2b/data": quietly(data_of), "e2b/chart": quietly(chart_of)}


def install():
    """For IPython."""
    from IPython import get_ipython
    from IPython.core.formatters import BaseFormatter

    class Format(BaseFormatter):
        def __call__(self, value):
            return FORMATS[self.format_type](value)

    formatters = get_ipython().display_formatter.formatters
    for media_type in FORMATS:
        formatters[media_type] = Format(format_type=media_type)
