#!/usr/bin/python3
"""Writes what the image contains: a CycloneDX document, and a table of licences, both in /usr/share/doc/boxkeep."""

import email.parser
import json
import pathlib
import re
import subprocess

place = pathlib.Path("/usr/share/doc/boxkeep")
npm_roots = ["/opt/node/lib", "/opt/code-server"]
own = [("/usr/local/bin/boxkeep", ["version"], "boxkeep", "Apache-2.0"), ("/opt/node/bin/node", ["--version"], "node", "MIT")]


def main():
    parts = sorted({part for source in (debian, python, npm, programs, carried) for part in source()})
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "components": [component(*part) for part in parts],
    }
    place.mkdir(parents=True, exist_ok=True)
    (place / "sbom.cdx.json").write_text(json.dumps(document, indent=1))
    (place / "licences.tsv").write_text("".join("\t".join(part[1:]) + "\n" for part in parts))


def component(url, name, version, licence):
    return {"type": "library", "name": name, "version": version, "purl": url, "licenses": [{"license": {"name": licence}}]}


def debian():
    form = "${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n"
    listed = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        status, name, version, machine = line.split("\t")
        if not status.startswith("ii"):
            continue
        url = f"pkg:deb/debian/{name}@{version}?arch={machine}&distro=debian-13"
        yield url, name, version, debian_licence(pathlib.Path(f"/usr/share/doc/{name}/copyright"))
    # The files of noVNC are taken out of its package; see the Dockerfile.
    version = json.loads(pathlib.Path("/usr/share/novnc/package.json").read_text())["version"]
    yield f"pkg:npm/%40novnc/novnc@{version}", "noVNC", version, debian_licence(pathlib.Path("/usr/share/doc/novnc/copyright"))


def debian_licence(copyright):
    """Old files are free text, so that only their place can be named."""
    text = copyright.read_text(errors="replace") if copyright.exists() else ""
    names = sorted({name.strip() for name in re.findall(r"^License: *(\S.*)$", text, re.MULTILINE)})
    return " AND ".join(names) if names else f"see {copyright}"


def python():
    for path in pathlib.Path("/opt/python/lib").glob("python*/site-packages/*.dist-info/METADATA"):
        fields = email.parser.HeaderParser().parsestr(path.read_text(errors="replace"))
        known = fields["License-Expression"] or classified(fields) or (fields["License"] or "").split("\n")[0]
        yield f"pkg:pypi/{fields['Name'].lower()}@{fields['Version']}", fields["Name"], fields["Version"], known or f"see {path.parent}"


def classified(fields):
    classes = [value.split(" :: ")[-1] for value in fields.get_all("Classifier", []) if value.startswith("License ::")]
    return " AND ".join(sorted(classes))


def npm():
    for root in npm_roots:
        for path in pathlib.Path(root).glob("**/node_modules/**/package.json"):
            try:
                fields = json.loads(path.read_text())
            except ValueError:
                continue  # A fixture of a package, which is not a package.
            name, version = fields.get("name"), fields.get("version")
            # Parts of a package name themselves too, but they are not below node_modules by that name.
            if not isinstance(name, str) or not isinstance(version, str) or not path.parent.match(f"node_modules/{name}"):
                continue
            yield f"pkg:npm/{name.replace('@', '%40')}@{version}", name, version, npm_licence(fields, path)


def npm_licence(fields, path):
    licence = fields.get("license") or fields.get("licenses") or f"see {path.parent}"
    if isinstance(licence, list):
        return " OR ".join(str(one.get("type", one) if isinstance(one, dict) else one) for one in licence)
    return str(licence.get("type", licence) if isinstance(licence, dict) else licence)


def programs():
    for path, arguments, name, licence in own:
        version = subprocess.run([path, *arguments], capture_output=True, text=True, check=True).stdout
        number = re.search(r"\d+\.\d+\.\d+\S*", version)[0]
        yield f"pkg:generic/{name}@{number}", name, number, licence


def carried():
    """What the program of boxkeep has unpacked: its runtime, its C library and ripgrep, which name their own versions."""
    for daemon in pathlib.Path("/var/lib/boxkeep/bin").glob("*/daemon"):
        bun = re.search(rb"Bun/(\d+\.\d+\.\d+)", daemon.read_bytes())[1].decode()
        yield f"pkg:npm/bun@{bun}", "bun", bun, "MIT AND LGPL-2.0"
        library = (daemon.parent / "libc.so.6").read_bytes()
        glibc = re.search(rb"GNU C Library \([^)]*?([\w.+-]+)\)", library)[1].decode()
        yield f"pkg:deb/debian/glibc@{glibc}?distro=debian-12", "glibc", glibc, "LGPL-2.1-or-later"
        search = subprocess.run([daemon.parent / "rg", "--version"], capture_output=True, text=True, check=True).stdout
        ripgrep, pcre2 = (re.search(rf"{name} (\d+\.\d+(?:\.\d+)?)", search)[1] for name in ("ripgrep", "PCRE2"))
        yield f"pkg:cargo/ripgrep@{ripgrep}", "ripgrep", ripgrep, "MIT OR Unlicense"
        yield f"pkg:generic/pcre2@{pcre2}", "pcre2", pcre2, "BSD-3-Clause WITH PCRE2-exception"


main()
