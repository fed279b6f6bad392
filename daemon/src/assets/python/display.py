"""Shows values: bundles of media types, `display()`, and the modules that code expects beside it."""

import builtins
import json
import os
import sys
from _frozen_importlib import ModuleSpec
from binascii import b2a_base64

# The methods of objects for notebooks, in the order of the calls.
METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/pdf", "_repr_pdf_"),
    ("application/json", "_repr_json_"),
    ("application/javascript", "_repr_javascript_"),
)


class Display:
    def __init__(self, events, origin, flush, report):
        self._events = events
        self._origin = origin
        self._flush = flush
        self._report = report
        self.figures = Figures(self)
        # Functions by media type, from a request of the daemon.
        self.formats = {}

    def install(self):
        builtins.display = self.display
        builtins.clear_output = self.clear_output
        sys.meta_path.insert(0, AfterImport(self))
        sys.meta_path.append(NotebookModules(self))

    def display(self, *values, display_id=None, metadata=None, raw=False, clear=False, **_):
        """Shows values; a display_id allows later changes."""
        if clear:
            self.clear_output(wait=True)
        if display_id is True:
            display_id = os.urandom(8).hex()
        for value in values:
            data, own_metadata = (value, {}) if raw else self.bundle(value)
            self.publish(data, dict(own_metadata, **(metadata or {})), display_id)
        return Handle(self, display_id) if display_id else None

    def update_display(self, value, *, display_id, metadata=None, raw=False, **_):
        data, own_metadata = (value, {}) if raw else self.bundle(value)
        self.publish(data, dict(own_metadata, **(metadata or {})), display_id, update=True)

    def publish_display_data(self, data, metadata=None, *, transient=None, update=False, **_):
        self.publish(data, metadata or {}, (transient or {}).get("display_id"), update)

    def clear_output(self, wait=False):
        """Clears the output of the cell; with wait, when the next output comes."""
        self._flush()
        self._events.send("clear", cell=self._origin.cell(), wait=bool(wait))
        self._events.raise_interrupt()

    def publish(self, data, metadata, display_id=None, update=False):
        if not data:
            return
        if not self._events.is_ours:
            print(data.get("text/plain", ""))
            return
        self._flush()
        cell = self._origin.cell()
        data, metadata = sendable(data), as_json(metadata) or {}
        if update:
            self._events.send("update", cell=cell, display_id=display_id, data=data, metadata=metadata)
        else:
            keys = {"display_id": display_id} if display_id else {}
            self._events.output(cell, {"output_type": "display_data", "data": data, "metadata": metadata}, **keys)
        self._events.raise_interrupt()

    def bundle(self, value):
        """Media types of a value and their metadata; both empty if the value has shown itself."""
        data, metadata = {}, {}
        # A class has the methods of its instances, but can only show its name.
        if not isinstance(value, type):
            if self._has_shown_itself(value):
                return {}, {}
            self._ask(value, data, metadata)
            self.figures.add_picture(value, data)
            self._add_formats(value, data)
        if "text/plain" not in data:
            data = dict({"text/plain": repr(value)}, **data)
        return data, metadata

    def _has_shown_itself(self, value):
        method = getattr(type(value), "_ipython_display_", None)
        if method is None:
            return False
        try:
            method(value)
            return True
        except Exception:
            return False  # It needs more of IPython than there is; the other methods do.

    def _ask(self, value, data, metadata):
        for media_type, name in METHODS:
            # One picture format is enough.
            if media_type == "image/jpeg" and "image/png" in data:
                continue
            found, about = _split(self._call(value, name))
            if found is not None:
                data[media_type] = found
                if about:
                    metadata[media_type] = about
        found, about = _split(self._call(value, "_repr_mimebundle_", include=None, exclude=None))
        if isinstance(found, dict):
            data.update(found)
            metadata.update(about or {})

    def _add_formats(self, value, data):
        for media_type, form in self.formats.items():
            found = None if media_type in data else form(value)
            if found is not None:
                data[media_type] = found

    def _call(self, value, name, **keys):
        # Looked up in the type, because an object that answers to every name has no such methods.
        method = getattr(type(value), name, None)
        if method is None:
            return None
        try:
            return method(value, **keys)
        except NotImplementedError:
            return None  # It can say so of one form and have others.
        except Exception:
            self._report()
            return None


class Handle:
    """A display that can be changed."""

    def __init__(self, display, display_id):
        self._display = display
        self.display_id = display_id

    def display(self, value, **keys):
        self._display.display(value, display_id=self.display_id, **keys)

    def update(self, value, **keys):
        self._display.update_display(value, display_id=self.display_id, **keys)

    def __repr__(self):
        return "<DisplayHandle display_id=%s>" % self.display_id


class Figures:
    """Shows matplotlib figures as pictures, at `show()` and at the end of a cell, and closes them."""

    backend = "boxkeep_figures"

    def __init__(self, display):
        self._display = display
        self._shown = []

    def configure(self, matplotlib):
        """Set here and not by a variable, which child processes without this module would inherit."""
        if os.environ.get("MPLBACKEND", "agg").lower() == "agg":
            matplotlib.rcParams["backend"] = "module://" + self.backend

    def fill(self, module):
        """Fills the drawing module when pyplot imports it."""
        from matplotlib.backend_bases import FigureManagerBase
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        module.FigureCanvas = FigureCanvasAgg
        module.FigureManager = FigureManagerBase
        module.show = lambda *_, **__: self.show()

    def show(self):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or self.backend not in sys.modules or self.backend not in pyplot.get_backend():
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if not any(figure is shown for shown in self._shown):
                self._display.display(figure)
        self._shown.clear()
        pyplot.close("all")

    def add_picture(self, value, data):
        module = sys.modules.get("matplotlib.figure")
        if module is None or not isinstance(value, module.Figure) or "image/png" in data:
            return
        from io import BytesIO

        picture = BytesIO()
        # Figures made without pyplot get a canvas when they are saved.
        value.savefig(picture, format="png", bbox_inches="tight")
        data["image/png"] = picture.getvalue()
        self._shown.append(value)


class AfterImport:
    """Sets up modules for a session when code imports them, and never before."""

    def __init__(self, display):
        ipython = lambda module: _lend(module, display)
        self._steps = {
            "matplotlib": display.figures.configure,
            "IPython.core.display": ipython,
            "IPython.core.display_functions": ipython,
        }

    def find_spec(self, name, path=None, target=None):
        step = self._steps.pop(name, None)
        if step is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None and hasattr(spec.loader, "exec_module"):
                run = spec.loader.exec_module

                def run_and_set_up(module):
                    run(module)
                    step(module)

                spec.loader.exec_module = run_and_set_up
                return spec
        return None


def _lend(module, display):
    for name in ("display", "update_display", "clear_output", "publish_display_data"):
        if hasattr(module, name):
            setattr(module, name, getattr(display, name))


class NotebookModules:
    """Finds the figure backend, and `IPython.display` where IPython is not installed. Last in the search."""

    def __init__(self, display):
        self._display = display

    def find_spec(self, name, path=None, target=None):
        if name not in ("IPython", "IPython.display", Figures.backend):
            return None
        return ModuleSpec(name, self, is_package=name == "IPython")

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == Figures.backend:
            self._display.figures.fill(module)
            return
        if module.__name__ == "IPython":
            # Libraries check both to detect that no IPython shell runs.
            module.version_info = (8, 24, 0)
            module.get_ipython = lambda: None
            return
        for name in ("display", "update_display", "clear_output", "publish_display_data"):
            setattr(module, name, getattr(self._display, name))
        module.DisplayHandle = Handle
        for name, media_type in FORMS.items():
            setattr(module, name, type(name, (Form,), {"media_type": media_type, "__module__": module.__name__}))


FORMS = {
    "HTML": "text/html",
    "Markdown": "text/markdown",
    "Latex": "text/latex",
    "Math": "text/latex",
    "SVG": "image/svg+xml",
    "JSON": "application/json",
    "Javascript": "application/javascript",
    "Pretty": "text/plain",
    "Image": "image/png",
}


class Form:
    """A value in the media type of its class name."""

    def __init__(self, data=None, url=None, filename=None, **_):
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data
        self.url = url

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.url is not None:
            return {"text/html": '<img src="%s"/>' % self.url}
        if isinstance(self.data, bytes):
            if self.data[:2] == b"\xff\xd8":
                return {"image/jpeg": self.data}
            if not self.media_type.startswith("image/png"):
                return {self.media_type: self.data.decode()}
        if type(self).__name__ == "Math":
            return {self.media_type: "$\\displaystyle %s$" % str(self.data).strip("$")}
        return {self.media_type: self.data}


def sendable(data):
    """Text for each media type, base64 for bytes, and a value for JSON; other values are left out."""
    result = {}
    for media_type, value in data.items():
        if media_type == "application/json" or media_type.endswith("+json") or isinstance(value, dict):
            value = as_json(value)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            value = b2a_base64(value, newline=False).decode()
        elif isinstance(value, (list, tuple)):
            value = "".join(map(str, value))
        elif value is not None and type(value) is not str:
            value = str(value)
        if value is not None:
            result[str(media_type)] = value
    return result


def as_json(value):
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except Exception:
        return None  # The value is not JSON; its other media types show it.


def _split(result):
    """A method returns a value, or a value and its metadata."""
    return result if isinstance(result, tuple) and len(result) == 2 else (result, None)
