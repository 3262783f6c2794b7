"""The kernel cache: what is found again, what is not trusted, and what may go wrong without a program noticing."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from raxis_cpu.cache import clear, object_code, store, summary
from raxis_cpu.cache.entry import name_of, pack, unpack
from raxis_cpu.cache.folder import Folder, distrust
from raxis_cpu.cache.usage import Usage
from raxis_cpu.llvm.compile import Code, compile, emit, host

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="owners, modes and forks are POSIX's")

ROOT = Path(__file__).resolve().parents[2]

ANSWER = 'target triple = "$triple"\ndefine i64 @answer() {\n  ret i64 $number\n}\n'


def ir(number: int) -> str:
    return ANSWER.replace("$number", str(number)).replace("$triple", host().triple)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of entries of an empty cache."""
    monkeypatch.setenv("RAXIS_CACHE", "on")
    monkeypatch.setenv("RAXIS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cpu"


class Compiler:
    """Makes b"code", and counts how often it had to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return b"code"


def calls_for(program: str = "program") -> int:
    """How often two look-ups in turn had to compile."""
    compiler = Compiler()
    for _ in range(2):
        assert object_code(program, host(), compiler) == b"code"
    return compiler.calls


def only_entry(folder: Path) -> Path:
    (path,) = folder.glob("*.o")
    return path


# The form of an entry


@pytest.mark.parametrize("code", [b"", b"\0", bytes(range(256))])
@pytest.mark.parametrize("key", ["", "k", "déjà vu\n" * 100])
def test_unpack_gives_what_was_packed(key: str, code: bytes) -> None:
    assert unpack(key, pack(key, code)) == code
    assert unpack(key + " ", pack(key, code)) is None


def test_any_damage_is_found() -> None:
    whole = pack("key", b"some code")
    for place in range(len(whole)):
        assert unpack("key", whole[:place]) is None
        damaged = bytearray(whole)
        damaged[place] ^= 1
        assert unpack("key", bytes(damaged)) is None
    assert unpack("key", whole + b"\0") is None


def test_key_and_code_are_apart() -> None:
    assert unpack("keysome", pack("key", b"some code")) is None
    assert unpack("ke", pack("key", b"some code")) is None


# Finding


def test_compiles_once(folder: Path) -> None:
    assert calls_for() == 1
    assert calls_for() == 0
    assert calls_for("another program") == 1
    assert len(list(folder.glob("*.o"))) == 2


def test_files_are_for_their_user_alone(folder: Path) -> None:
    calls_for()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_entry(folder).stat().st_mode) == 0o600


@pytest.mark.parametrize("change", [{"cpu": "other"}, {"features": "+none"}, {"llvm_version": (1, 2, 3)}])
def test_target_is_part_of_the_key(folder: Path, change: dict[str, object]) -> None:
    compiler = Compiler()
    object_code("program", host(), compiler)
    object_code("program", host()._replace(**change), compiler)  # type: ignore[arg-type]
    assert compiler.calls == 2


def test_versions_and_sources_are_part_of_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls_for()
    changes: list[tuple[str, object]] = [("__version__", "9.9"), ("_sources", lambda: "changed")]
    for name, value in changes:
        store._origin.cache_clear()
        monkeypatch.setattr(store, name, value)
        assert calls_for() == 1
    store._origin.cache_clear()


def test_key_is_readable_in_the_entry(folder: Path) -> None:
    object_code("the whole program", host(), Compiler())
    content = only_entry(folder).read_bytes()
    assert b"the whole program" in content
    assert host().cpu.encode() in content


def test_off_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_CACHE", "off")
    assert calls_for() == 2
    assert not folder.exists()
    assert summary()["folder"] is None
    assert clear() == 0


def test_other_values_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_CACHE", "no")
    with pytest.raises(ValueError, match="RAXIS_CACHE='no' is not understood; it accepts 'on', 'off'"):
        calls_for()


def test_a_compiler_that_raises_leaves_nothing(folder: Path) -> None:
    with pytest.raises(RuntimeError, match="expected"):
        compile("no IR at all", host())
    assert list(folder.glob("*")) == []


def test_code_from_the_cache_runs(folder: Path) -> None:
    import ctypes

    fresh, kept = compile(ir(42), host()), compile(ir(42), host())
    assert fresh == kept == emit(ir(42), host())
    for code in (Code(fresh), Code(kept)):
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("answer"))() == 42


def test_missing_functions_are_reported() -> None:
    code = Code(emit(ir(1), host()))
    with pytest.raises(RuntimeError, match="question"):
        code.address("question")
    assert code.address("answer") > 0


# Distrust


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 0xFF
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def swap(path: Path) -> None:
    path.write_bytes(pack("what somebody else compiled", b"evil"))


def open_to_all(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"code", b"evil"))
    path.chmod(0o666)


def link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@posix
@pytest.mark.parametrize("spoil", [damage, empty, swap, open_to_all, link, pipe])
def test_spoilt_entries_are_replaced(folder: Path, spoil: Callable[[Path], None]) -> None:
    calls_for()
    path = only_entry(folder)
    spoil(path)
    assert calls_for() == 1
    assert path.is_file()
    assert not path.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_in_the_place_of_an_entry_is_left(folder: Path) -> None:
    calls_for()
    path = only_entry(folder)
    path.unlink()
    path.mkdir()
    assert calls_for() == 2
    assert list(folder.iterdir()) == [path]


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_folders_that_others_can_write_are_not_used(folder: Path, mode: int) -> None:
    calls_for()
    folder.chmod(mode)
    assert calls_for() == 2


@posix
def test_other_users_files_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls_for()
    user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert calls_for() == 2
    assert distrust(folder.stat()) == f"belongs to user {user - 1}, not to user {user}"


# What may go wrong


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What the cache logged."""
    caplog.set_level(logging.DEBUG, "raxis_cpu.cache")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "raxis_cpu.cache"]


def test_a_file_in_the_way_is_one_debug_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("RAXIS_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert [calls_for(), calls_for("other")] == [2, 2]
    (line,) = lines()
    assert line.startswith("The kernel cache is not used: ")
    assert "Not a directory" in line


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a folder that even root cannot write")
def test_read_only_places_are_one_debug_line(
    monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    monkeypatch.setenv("RAXIS_CACHE_DIR", "/proc/raxis")
    assert [calls_for(), calls_for("other")] == [2, 2]
    assert len(lines()) == 1
    assert summary()["entries"] == clear() == 0


@posix
def test_a_read_only_folder_still_serves(folder: Path) -> None:
    calls_for()
    folder.chmod(0o500)
    assert calls_for() == 0
    assert calls_for("another") in {1, 2}  # root writes all the same
    folder.chmod(0o700)


def test_a_removed_folder_is_made_again(folder: Path) -> None:
    calls_for()
    only_entry(folder).unlink()
    folder.rmdir()
    assert calls_for() == 1


@posix
def test_a_home_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("RAXIS_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/dev/null/nobody")
    assert calls_for() == 2


FULL_DISK = """
import resource, signal
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from raxis_cpu.cache import object_code
from raxis_cpu.llvm.compile import host
code = bytes(100_000)
for _ in range(2):
    assert object_code("large", host(), lambda: code) == code
"""


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RAXIS_CPU": "plugin", **variables}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )


@posix
def test_a_full_disk_leaves_nothing_behind(folder: Path) -> None:
    python("-c", FULL_DISK)
    assert list(folder.glob("*.o*")) == []


# Size


def test_trim_removes_what_was_not_used_for_longest(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "cpu", limit=1000)
    for age in range(20):
        folder.write(f"{age}.o", bytes(100))
        os.utime(tmp_path / "cpu" / f"{age}.o", (0, time.time() - 7200 * (age + 1)))
    assert folder.read("15.o") == bytes(100)  # just used
    folder.trim()
    # 750 bytes are left: the entry just read, and the six youngest.
    assert sorted(int(file.path.stem) for file in folder.files()) == [0, 1, 2, 3, 4, 5, 15]
    folder.trim()
    assert len(folder.files()) == 7


def test_trim_removes_abandoned_files_only(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "cpu", limit=1000)
    folder.write("a.o", b"entry")
    for name, age in (("b.o.1-x", 0), ("c.o.1-x", 7200), ("notes", 7200)):
        (folder.path / name).write_bytes(b"")
        os.utime(folder.path / name, (0, time.time() - age))
    folder.trim()
    assert sorted(path.name for path in folder.path.iterdir()) == ["a.o", "b.o.1-x", "notes"]


def test_writing_keeps_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LIMIT", 100_000)
    # Names decide which writes trim, and depend on the machine: that none of a hundred does has odds of 1 to 600,000.
    monkeypatch.setattr(store, "_WRITES_PER_TRIM", 8)
    for number in range(600):
        object_code(f"program {number}", host(), lambda: bytes(1000))
    size = summary()["bytes"]
    entry = len(pack(f"{store._origin(host())}\n\nprogram 1", bytes(1000)))
    assert 75_000 - entry <= size <= 100_000 + 100 * entry


def test_trim_of_nothing(tmp_path: Path) -> None:
    Folder(tmp_path / "missing", limit=0).trim()
    assert not (tmp_path / "missing").exists()


# Processes and threads

MANY = """
import sys
from raxis_cpu.cache import object_code
from raxis_cpu.llvm.compile import host
for number in range(60):
    expected = f"code {number}".encode() * 500
    assert object_code(f"program {number}", host(), lambda: expected) == expected
"""


def test_many_processes_share_a_folder(folder: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", MANY], cwd=ROOT) for _ in range(6)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 6
    names = sorted(path.name for path in folder.iterdir() if path.name != "usage")
    assert names == sorted(name_of(f"{store._origin(host())}\n\nprogram {number}") for number in range(60))
    figures = summary()
    assert figures["hits"] + figures["misses"] == 360
    assert figures["misses"] >= 60


def test_many_threads_share_a_folder(folder: Path) -> None:
    wrong = []

    def work() -> None:
        for number in range(40):
            expected = f"code {number}".encode()
            found = object_code(f"program {number}", host(), lambda: expected)  # noqa: B023
            if found != expected:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(list(folder.glob("*.o"))) == 40


FORK = """
import os, threading
from raxis_cpu.llvm.compile import Code, compile, host
text = f'target triple = "{host().triple}"\\n' + 'define i64 @answer() {\\n  ret i64 %d\\n}\\n'
stop = threading.Event()

def work(start):
    number = start
    while not stop.is_set():
        Code(compile(text % number, host())).address("answer")
        number += 1

threads = [threading.Thread(target=work, args=(start,)) for start in (0, 10**6)]
for thread in threads:
    thread.start()
for attempt in range(20):
    child = os.fork()
    if not child:
        Code(compile(text % (10**9 + attempt), host())).address("answer")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
"""


@posix
def test_children_forked_while_others_compile(folder: Path) -> None:
    python("-W", "ignore::DeprecationWarning", "-c", FORK)


# Kernels

STEP = """
import raxis
from raxis_cpu.cache import summary
x = (raxis.arange(12.0).reshape(3, 4) / 7).requires_grad_()
loss = (x.exp() * x).sum(1).softmax(0).square().sum()
loss.backward()
figures = summary()
print(figures["hits"], figures["misses"], x.grad.flatten().tolist())
"""


def test_a_second_process_compiles_nothing(folder: Path) -> None:
    cold_hits, cold_misses, cold = python("-c", STEP).stdout.split(maxsplit=2)
    assert int(cold_hits) == 0
    assert int(cold_misses) > 3
    hits, misses, warm = python("-c", STEP).stdout.split(maxsplit=2)
    assert (int(hits), misses, warm) == (int(cold_misses), cold_misses, cold)
    for path in folder.glob("*.o"):
        damage(path)
    hits, misses, repaired = python("-c", STEP).stdout.split(maxsplit=2)
    assert (int(hits), int(misses), repaired) == (int(cold_misses), 2 * int(cold_misses), cold)
    assert python("-c", STEP, RAXIS_CACHE="off").stdout.split(maxsplit=2)[2] == cold


# Usage and the command


@pytest.fixture
def made(tmp_path: Path) -> Folder:
    """A folder that is there."""
    folder = Folder(tmp_path / "cpu", limit=1000)
    folder.write("a.o", b"entry")
    return folder


def test_usage_adds_up_and_stays_small(made: Folder) -> None:
    path = made.path / "usage"
    for _ in range(1000):
        usage = Usage(made)
        usage.count(hit=True)
        usage.count(hit=True)
        usage.count(hit=False)
        usage.save()
    assert Usage(made).totals() == (2000, 1000)
    assert path.stat().st_size <= 4096
    path.write_bytes(path.read_bytes() + b"torn")
    assert Usage(made).totals() == (2000, 1000)


def test_usage_without_a_folder(tmp_path: Path) -> None:
    usage = Usage(Folder(tmp_path / "missing", limit=1000))
    usage.count(hit=True)
    assert usage.totals() == (1, 0)
    usage.save()
    assert not (tmp_path / "missing").exists()


@posix
def test_nothing_is_touched_in_a_folder_that_others_can_write(made: Folder) -> None:
    (made.path / "usage").symlink_to(made.path / "victim")
    made.path.chmod(0o777)
    usage = Usage(made)
    usage.count(hit=True)
    usage.save()
    assert not (made.path / "victim").exists()
    assert made.clear() == 0
    assert (made.path / "a.o").exists()


def test_show_and_clear(folder: Path) -> None:
    calls_for()
    shown = json.loads(python("-m", "raxis_cpu.cache", "--json").stdout)
    size = only_entry(folder).stat().st_size
    assert shown.items() >= {"folder": str(folder), "entries": 1, "bytes": size, "limit": 256 << 20}.items()
    text = python("-m", "raxis_cpu.cache", "show").stdout
    assert f"bytes    {size}" in text.splitlines()
    assert "removed  1" in python("-m", "raxis_cpu.cache", "clear").stdout.splitlines()
    assert list(folder.iterdir()) == []
    assert "are not kept" in python("-m", "raxis_cpu.cache", RAXIS_CACHE="off").stdout


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RAXIS_CACHE": "off"}, "There is no cache to fill"),
        ({"RAXIS_CACHE": "of"}, "Did you mean 'off'?"),
        ({"RAXIS_CPU": "reference"}, "The device cpu is served by raxis-core, which compiles nothing."),
    ],
)
def test_warm_says_why_it_cannot(folder: Path, variables: dict[str, str], message: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failure:
        python("-m", "raxis_cpu.cache", "warm", **variables)
    assert failure.value.returncode == 1
    assert message in failure.value.stderr


@pytest.mark.slow
def test_warm_leaves_nothing_to_compile(folder: Path) -> None:
    first = json.loads(python("-m", "raxis_cpu.cache", "warm", "--json").stdout)
    assert first["compiled"] == first["entries"] > 100
    assert json.loads(python("-m", "raxis_cpu.cache", "warm", "--json").stdout)["compiled"] == 0
