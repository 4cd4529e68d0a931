"""The build of the dashboard: build_dashboard.sh with a fake npm, and pack_dashboard.mjs."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parent
INDEX = '<meta nonce="__CSP_NONCE__">'


def make_dist(directory, files):
    for path, content in {"index.html": INDEX, **files}.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return directory


def pack(dist, output):
    output.mkdir(exist_ok=True)
    return subprocess.run(["node", TOOLS / "pack_dashboard.mjs", dist, output],
                          capture_output=True, text=True, check=False)


def read_table(output):
    """{path: (content type, [content, brotli, gzip])} of the generated source and the pack."""
    packed = (output / "dashboard.pack").read_bytes()
    entries = re.findall(r'\{"([^"]+)", "([^"]+)", "[0-9a-f]{32}",\s+(.*?)\},',
                         (output / "dashboard_files.cc").read_text())
    table = {}
    for path, content_type, places in entries:
        found = [(int(start), int(length))
                 for start, length in re.findall(r"piece\((\d+), (\d+)\)", places)]
        table[path] = (content_type, [packed[start:start + length] for start, length in found])
    return table


def test_files_are_packed_with_their_compressed_forms(tmp_path):
    script = "console.log('packed');\n" * 100
    dist = make_dist(tmp_path / "dist", {
        "assets/app-1.js": script, "assets/tiny-2.css": "a{}", "assets/app-1.js.map": "{}",
        ".vite/manifest.json": "{}"})
    done = pack(dist, tmp_path / "out")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    table = read_table(tmp_path / "out")
    assert sorted(table) == ["/assets/app-1.js", "/assets/tiny-2.css", "/index.html"]
    content_type, (plain, brotli, gzipped) = table["/assets/app-1.js"]
    assert content_type == "text/javascript; charset=utf-8"
    assert plain.decode() == script
    assert gzip.decompress(gzipped) == plain
    assert 0 < len(brotli) < len(gzipped) < len(plain)
    assert table["/assets/tiny-2.css"][1] == [b"a{}", b"", b""], "not smaller"
    assert table["/index.html"][1] == [INDEX.encode(), b"", b""], "completed for each answer"


def test_the_source_changes_only_with_the_pack(tmp_path):
    dist = make_dist(tmp_path / "dist", {"assets/a.js": "one"})
    output = tmp_path / "out"
    pack(dist, output)
    source = output / "dashboard_files.cc"
    first = source.read_text()
    os.utime(source, (1, 1))
    pack(dist, output)
    assert (source.stat().st_mtime, source.read_text()) == (1, first)
    (dist / "assets" / "a.js").write_text("two")  # The same length.
    pack(dist, output)
    assert source.read_text() != first, "a compiler cache must see the change"


@pytest.mark.parametrize("files, sentence", [
    ({"assets/a.exe": "x"}, "/assets/a.exe has no known content type"),
    ({"assets/a b.js": "x"}, "Rename it"),
])
def test_a_file_that_cannot_be_served_is_named(tmp_path, files, sentence):
    done = pack(make_dist(tmp_path / "dist", files), tmp_path / "out")
    assert done.returncode == 1 and sentence in done.stderr


def test_a_directory_without_a_page_is_refused(tmp_path):
    (tmp_path / "dist").mkdir()
    done = pack(tmp_path / "dist", tmp_path / "out")
    assert done.returncode == 1 and "contains no index.html" in done.stderr


class Project:
    """A copy of the scripts with an empty application, and an npm that does what a test says."""

    def __init__(self, directory):
        self.directory = directory
        self.web = directory / "web"
        self.web.mkdir()
        (self.web / "package-lock.json").write_text("{}")
        (directory / "tools").mkdir()
        for name in ("build_dashboard.sh", "pack_dashboard.mjs"):
            shutil.copy(TOOLS / name, directory / "tools" / name)
        (directory / "bin").mkdir()

    def run(self, step, npm):
        fake = self.directory / "bin" / "npm"
        fake.write_text(f"#!/bin/sh\necho \"$@\" >>{self.directory}/calls\n{npm}\n")
        fake.chmod(0o755)
        path = f"{self.directory / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [self.directory / "tools" / "build_dashboard.sh", step,
             self.directory / "build" / "web"],
            capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})

    def calls(self):
        file = self.directory / "calls"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


INSTALL = "mkdir -p node_modules && touch node_modules/.package-lock.json"


def test_packages_are_installed_only_if_the_lock_file_changed(project):
    for _ in range(2):
        done = project.run("install", INSTALL)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert len(project.calls()) == 1 and project.calls()[0].startswith("ci ")
    installed = (project.web / "node_modules" / ".package-lock.json").stat().st_mtime
    os.utime(project.web / "package-lock.json", (installed + 10, installed + 10))
    project.run("install", INSTALL)
    assert len(project.calls()) == 2


@pytest.mark.parametrize("step, advice", [
    ("install", "Check the connection to the npm registry"), ("build", "Correct the error")])
def test_a_failing_npm_prints_its_output_and_what_to_do(project, step, advice):
    done = project.run(step, "echo words of npm; exit 7")
    assert done.returncode == 1
    assert "words of npm" in done.stderr and advice in done.stderr
    assert f"cmake -DPOSTRIDER_DASHBOARD=OFF {project.directory}/build" in done.stderr


def test_the_application_is_built_outside_of_its_sources_and_packed(project):
    done = project.run("build", "mkdir -p $5 && echo page >$5/index.html && echo noise")
    dist = project.directory / "build" / "web" / "dist"
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert project.calls() == [f"run build -- --outDir {dist} --emptyOutDir"]
    assert list(read_table(dist.parent)) == ["/index.html"]
    assert sorted(os.listdir(project.web)) == ["package-lock.json"]
