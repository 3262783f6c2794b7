"""Entry points are read from metadata folders and archives, without importing anything."""

from __future__ import annotations

import zipfile
from pathlib import Path

from raxis.backends.discovery import BACKENDS, EntryPoint, scan


def write(folder: Path, name: str, entry_points: str | bytes, metadata: str | None = None) -> Path:
    info = folder / name
    info.mkdir(parents=True)
    data = entry_points if isinstance(entry_points, bytes) else entry_points.encode()
    (info / "entry_points.txt").write_bytes(data)
    if metadata is not None:
        (info / ("METADATA" if name.endswith("dist-info") else "PKG-INFO")).write_text(metadata)
    return info


LINES = "[raxis.backends]\nfoo = raxis_foo\n"


def test_dist_info(tmp_path: Path) -> None:
    text = "[console_scripts]\nfoo = a:b\n\n# comment\n[ raxis.backends ]\n# comment\n"
    text += "foo=raxis_foo \n bar = raxis_bar\n\n[x]\nfoo = c\n"
    info = write(tmp_path, "raxis_foo-1.2.dist-info", text, "Name: raxis-foo\nVersion: 1.2.3\n\nVersion: 9\n")
    common = ("raxis-foo", "1.2.3", str(info))
    assert scan(BACKENDS, [str(tmp_path)]) == [
        EntryPoint("bar", "raxis_bar", *common),
        EntryPoint("foo", "raxis_foo", *common),
    ]


def test_egg_info_and_missing_metadata(tmp_path: Path) -> None:
    write(tmp_path, "raxis_b.egg-info", LINES, "Metadata-Version: 2.1\nName: raxis-b\nVersion: 2\n")
    write(tmp_path, "raxis_a-0.5.dist-info", LINES)
    found = [(each.distribution, each.version) for each in scan(BACKENDS, [str(tmp_path)])]
    assert found == [("raxis_a", "0.5"), ("raxis-b", "2")]


def test_archives(tmp_path: Path) -> None:
    archive = tmp_path / "plugins.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(
            "raxis_foo-3.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: raxis-foo\nVersion: 3.0\n"
        )
        file.writestr("raxis_foo-3.0.dist-info/entry_points.txt", LINES)
    [found] = scan(BACKENDS, [str(archive)])
    assert found == ("foo", "raxis_foo", "raxis-foo", "3.0", str(archive))


def test_first_on_the_path_counts_and_leftovers_do_not(tmp_path: Path) -> None:
    early, late = tmp_path / "early", tmp_path / "late"
    write(early, "raxis_foo-0.9.dist-info", LINES, "Name: raxis-foo\nVersion: 0.9\n")
    write(early, "raxis_foo-0.10.dist-info", LINES, "Name: raxis_foo\nVersion: 0.10\n")
    write(early, "~axis_foo-0.8.dist-info", LINES, "Name: raxis-old\nVersion: 0.8\n")
    write(late, "Raxis.Foo-7.dist-info", LINES, "Name: Raxis.Foo\nVersion: 7\n")
    assert [each.version for each in scan(BACKENDS, [str(early), str(late), str(early)])] == ["0.10"]


def test_order_does_not_depend_on_the_path(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write(tmp_path / name, f"{name}-1.dist-info", LINES, f"Name: {name}\nVersion: 1\n")
    paths = [str(tmp_path / name) for name in "bac"]
    assert [each.distribution for each in scan(BACKENDS, paths)] == ["a", "b", "c"]
    assert scan(BACKENDS, paths[::-1]) == scan(BACKENDS, paths)


def test_unreadable_things_are_passed_over(tmp_path: Path, monkeypatch) -> None:
    write(
        tmp_path,
        "raxis_bytes-1.dist-info",
        b"[raxis.backends]\nfoo = raxis_foo\n\xff\xfe = \xff\n",
        "Name: x\xe9",
    )
    (tmp_path / "empty-1.dist-info").mkdir()
    (tmp_path / "file-1.dist-info").write_text("not a folder")
    (tmp_path / "text").write_text("not an archive")
    monkeypatch.chdir(tmp_path)
    found = scan(BACKENDS, ["/no/such/folder", str(tmp_path / "text"), ""])
    assert ("foo", "raxis_foo") in [(each.name, each.value) for each in found]


def test_other_groups_are_not_ours(tmp_path: Path) -> None:
    write(tmp_path, "x-1.dist-info", "[raxis.backends.other]\nfoo = x\n[raxis.plugins]\nbar = y\n")
    assert scan(BACKENDS, [str(tmp_path)]) == []
