"""Builds the order page: puts the menu into the template and writes build/index.html."""

import csv
import html
import pathlib

here = pathlib.Path(__file__).parent
with open(here / "menu.csv", newline="") as file:
    menu = list(csv.DictReader(file))
rows = "\n".join(
    f'  <p><label>{html.escape(dish["dish"])} <input type="number" min="0" value="0" data-price="{dish["price"]}"></label>'
    f' {dish["price"]}</p>'
    for dish in menu
)
target = here / "build"
target.mkdir(exist_ok=True)
(target / "index.html").write_text((here / "page.html").read_text().replace("{{menu}}", rows))
print(f"build/index.html has {len(menu)} dishes")
