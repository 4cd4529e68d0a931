"""`postrider archive verify`: checks the files that retention has archived."""

import hashlib
import json
import subprocess

import pytest

from harness import run_command


def compress(text):
    return subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True).stdout


def write_archive(folder, texts):
    files = []
    for number, text in enumerate(texts):
        data = compress(text)
        name = f"2026-01-{number + 1:02}.jsonl.zst"
        (folder / name).write_bytes(data)
        files.append({"name": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
                      "lines": text.count(b"\n"), "first_at": "2026-01-01T00:00:00.000Z",
                      "last_at": "2026-01-01T23:59:59.999Z"})
    manifest = {"format": 1, "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return manifest


LINES = b"".join(b'{"id":"evt_%d","data":{"n":1e400}}\n' % number for number in range(1000))


def verify(folder, *arguments):
    return run_command("archive", "verify", str(folder), *arguments)


def rewrite(folder, manifest, change):
    change(manifest["files"][0])
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_an_intact_archive_verifies_with_its_file_and_line_counts(tmp_path):
    write_archive(tmp_path, [LINES, b'{"deep":' + b"[" * 40 + b"]" * 40 + b"}\n"])
    code, stdout, stderr = verify(tmp_path, "--json")
    assert (code, stderr) == (0, "")
    assert json.loads(stdout) == {"ok": True, "files": 2, "lines": 1001, "faults": []}
    assert verify(tmp_path)[:2] == (0, "2 files with 1001 lines, 0 wrong.\n")


def damage(name):
    """Returns (function that damages the archive, expected text)."""
    def flip(folder, manifest):
        file = folder / manifest["files"][0]["name"]
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)

    def replace(folder, manifest):
        (folder / manifest["files"][0]["name"]).write_bytes(compress(LINES[:-36]))

    def cut(folder, manifest):
        file = folder / manifest["files"][0]["name"]
        data = file.read_bytes()[:-1]
        file.write_bytes(data)
        rewrite(folder, manifest, lambda entry: entry.update(
            bytes=len(data), sha256=hashlib.sha256(data).hexdigest()))

    def not_json(folder, manifest):
        data = compress(b'{"a":1}\nnot json\n')
        (folder / manifest["files"][0]["name"]).write_bytes(data)
        rewrite(folder, manifest, lambda entry: entry.update(
            bytes=len(data), lines=2, sha256=hashlib.sha256(data).hexdigest()))

    def miscount(folder, manifest):
        rewrite(folder, manifest, lambda entry: entry.update(lines=999))

    def resize(folder, manifest):
        rewrite(folder, manifest, lambda entry: entry.update(bytes=1))

    def remove(folder, manifest):
        (folder / manifest["files"][0]["name"]).unlink()

    def add(folder, _):
        (folder / "2027-01-01.jsonl.zst").write_bytes(compress(LINES))

    return {"flip": (flip, "2026-01-01.jsonl.zst"), "replace": (replace, "SHA-256 does not match"),
            "cut": (cut, "is truncated"), "not_json": (not_json, "line 2 is not JSON"),
            "miscount": (miscount, "1000 lines; the manifest says 999"),
            "resize": (resize, "the manifest says 1."), "remove": (remove, "is missing"),
            "add": (add, "2027-01-01.jsonl.zst is not in the manifest")}[name]


@pytest.mark.parametrize("name", ["flip", "replace", "cut", "not_json", "miscount", "resize",
                                  "remove", "add"])
def test_damage_to_the_archive_is_named(tmp_path, name):
    manifest = write_archive(tmp_path, [LINES])
    action, expected = damage(name)
    action(tmp_path, manifest)
    code, stdout, _ = verify(tmp_path)
    assert code == 1 and expected in stdout and stdout.endswith(", 1 wrong.\n"), stdout


@pytest.mark.parametrize("text", [
    "", "not json", "[]", "{}", '{"format": 1}', '{"format": 2, "files": []}',
    '{"format": 1, "files": [{"name": "../../etc/passwd", "sha256": "' + "0" * 64 + '"}]}',
    '{"format": 1, "files": [{"name": "a", "sha256": "0"}]}', '{"format": 1, "files": [7]}'])
def test_an_invalid_manifest_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    code, stdout, stderr = verify(tmp_path)
    assert (code, stdout) == (2, "") and "manifest.json" in stderr
    assert verify(tmp_path / "nowhere")[0] == 2
