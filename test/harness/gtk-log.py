"""A window with a text field and a canvas, which prints each event that it receives as a line of JSON.

Keys and text go to the field, pointer events to the canvas. A line says where the parts are on the screen, again when the window moves.
Arguments: the title, and the path of a file that a user can drag from the window.
"""

import json
import pathlib
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
gi.require_version("GdkX11", "3.0")
from gi.repository import Gdk, GdkX11, GLib, Gtk  # noqa: E402, F401 -- GdkX11 adds get_xid

MODIFIERS = (
    (Gdk.ModifierType.SHIFT_MASK, "shift"),
    (Gdk.ModifierType.LOCK_MASK, "lock"),
    (Gdk.ModifierType.CONTROL_MASK, "ctrl"),
    (Gdk.ModifierType.MOD1_MASK, "alt"),
    (Gdk.ModifierType.MOD4_MASK, "super"),
    (Gdk.ModifierType.MOD5_MASK, "altgr"),
)
SCROLLS = {
    Gdk.ScrollDirection.UP: "up",
    Gdk.ScrollDirection.DOWN: "down",
    Gdk.ScrollDirection.LEFT: "left",
    Gdk.ScrollDirection.RIGHT: "right",
}
PRESSES = {
    Gdk.EventType.BUTTON_PRESS: "press",
    Gdk.EventType.DOUBLE_BUTTON_PRESS: "double",
    Gdk.EventType.TRIPLE_BUTTON_PRESS: "triple",
    Gdk.EventType.BUTTON_RELEASE: "release",
}


def tell(kind, **fields):
    print(json.dumps({"kind": kind, **fields}), flush=True)


def held(state):
    return [name for mask, name in MODIFIERS if state & mask]


def on_key(_widget, event):
    is_press = event.type == Gdk.EventType.KEY_PRESS
    tell("key" if is_press else "keyup", name=Gdk.keyval_name(event.keyval), held=held(event.state))
    return False


def on_button(_widget, event):
    at = {"x": int(event.x_root), "y": int(event.y_root)}
    tell(PRESSES[event.type], button=event.button, held=held(event.state), **at)
    return False


def on_motion(_widget, event):
    is_dragging = bool(event.state & Gdk.ModifierType.BUTTON1_MASK)
    tell("motion", x=int(event.x_root), y=int(event.y_root), dragging=is_dragging)
    return False


def on_scroll(_widget, event):
    tell("scroll", direction=SCROLLS.get(event.direction, "smooth"), held=held(event.state))
    return False


def on_size(_widget, place):
    tell("size", width=place.width, height=place.height)


def on_text(buffer):
    tell("text", text=buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True))


def place_of(widget):
    window = widget.get_toplevel()
    _, left, top = window.get_window().get_origin()
    x, y = widget.translate_coordinates(window, left, top)
    return {"x": x, "y": y, "width": widget.get_allocated_width(), "height": widget.get_allocated_height()}


def draggable(path):
    box = Gtk.EventBox()
    box.add(Gtk.Label(label=path.name, height_request=60))
    box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
    box.drag_source_add_uri_targets()
    box.connect("drag-data-get", lambda _box, _context, data, *_: data.set_uris([path.as_uri()]))
    box.connect("drag-begin", lambda *_: tell("dragbegin"))
    box.connect("drag-end", lambda *_: tell("dragend"))
    return box


def main():
    window = Gtk.Window(title=sys.argv[1] if len(sys.argv) > 1 else "Event log")
    window.set_default_size(500, 400)
    view = Gtk.TextView(accepts_tab=True)
    view.get_buffer().connect("changed", on_text)
    view.connect("key-press-event", on_key)
    view.connect("key-release-event", on_key)
    canvas = Gtk.DrawingArea()
    masks = Gdk.EventMask
    canvas.add_events(
        masks.BUTTON_PRESS_MASK | masks.BUTTON_RELEASE_MASK | masks.POINTER_MOTION_MASK | masks.SCROLL_MASK
    )
    for signal in ("button-press-event", "button-release-event"):
        canvas.connect(signal, on_button)
    canvas.connect("motion-notify-event", on_motion)
    canvas.connect("scroll-event", on_scroll)
    canvas.connect("size-allocate", on_size)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    box.pack_start(view, True, True, 0)
    box.pack_start(canvas, True, True, 0)
    files = [draggable(pathlib.Path(path)) for path in sys.argv[2:]]
    for file in files:
        box.pack_start(file, False, False, 0)
    window.add(box)
    window.connect("focus-in-event", lambda *_: tell("focus"))
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    view.grab_focus()
    xid = window.get_window().get_xid()
    # Without a window manager, the window itself takes the keyboard.
    window.get_window().focus(Gdk.CURRENT_TIME)

    def ready():
        places = {"field": place_of(view), "canvas": place_of(canvas), "files": [place_of(file) for file in files]}
        tell("ready", xid=xid, **places)
        return False

    # A window manager may move the window at any time, and on a busy machine after its first picture.
    window.connect("configure-event", lambda *_: ready())
    GLib.timeout_add(100, ready)
    Gtk.main()


main()
