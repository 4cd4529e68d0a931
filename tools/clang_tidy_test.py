"""How sources are joined for clang-tidy, and what becomes of what it says."""

import clang_tidy


class ScriptedTidy(clang_tidy.Tidy):
    """Answers instead of clang-tidy: `answer(text of the file, its path)`."""

    def __init__(self, build, answer):
        super().__init__(build)
        self.answer = answer
        self.runs = []

    def run(self, file, flags):
        self.runs.append(file)
        return self.answer(file.read_text(), file)


def write(directory, name, text):
    file = directory / name
    file.write_text(text)
    return file


def line_of(text, word):
    return next(i for i, line in enumerate(text.splitlines(), 1) if word in line)


def test_flags_are_those_of_the_compiler_without_files():
    entry = {"command": "cmake -E env X=1 ccache /usr/bin/g++-12 -DA=1 -I/x -O2 -MD -MT a.o "
                        "-MF a.d -o a.o -c /src/a.cc"}
    assert clang_tidy.flags_of(entry) == ("-DA=1", "-I/x", "-O2")


def test_clean_sources_are_checked_in_one_run(tmp_path):
    sources = [write(tmp_path, f"s{i}.cc", "int x;\n") for i in range(3)]
    tidy = ScriptedTidy(tmp_path, lambda text, file: "")
    assert tidy.check(sources, ()) == ""
    assert len(tidy.runs) == 1
    assert not list((tmp_path / "tidy").glob("*.cc"))


def test_sources_are_joined_where_the_settings_of_their_folder_hold(tmp_path):
    folder = clang_tidy.ROOT / "src" / "config"
    tidy = ScriptedTidy(tmp_path, lambda text, file: "")
    assert tidy.check([folder / "config.h", folder / "load.h"], ()) == ""
    joined = tmp_path / "tidy" / "src" / "config"
    assert tidy.runs[0].parent == joined
    assert (joined / ".clang-tidy").read_text() == (folder / ".clang-tidy").read_text()


def test_only_the_source_with_a_finding_is_checked_again(tmp_path):
    sources = [write(tmp_path, "a.cc", "int a;\nint b;\n"), write(tmp_path, "b.cc", "bad\n"),
               write(tmp_path, "c.cc", "int c;\n")]

    def answer(text, file):
        return f"{file}:{line_of(text, 'bad')}:1: warning: [x]\n" if "bad" in text else ""
    tidy = ScriptedTidy(tmp_path, answer)
    assert tidy.check(sources, ()) == f"{sources[1]}:1:1: warning: [x]\n"
    assert tidy.runs[1:] == [sources[1]]


def test_a_finding_that_only_joining_causes_does_not_count(tmp_path):
    sources = [write(tmp_path, "a.cc", "int a;\n"), write(tmp_path, "b.cc", "int b;\n")]
    tidy = ScriptedTidy(
        tmp_path, lambda text, file: f"{file}:2:1: warning: [x]\n" if "int a" in text
        and "int b" in text else "")
    assert tidy.check(sources, ()) == ""


def test_sources_that_cannot_be_joined_are_checked_in_halves(tmp_path):
    sources = [write(tmp_path, f"s{i}.cc", f"word{i}\n") for i in range(4)]

    def answer(text, file):
        clash = "word0" in text and "word3" in text
        return f"{file}:1:1: error: redefinition [clang-diagnostic-error]\n" if clash else ""
    tidy = ScriptedTidy(tmp_path, answer)
    assert tidy.check(sources, ()) == ""
    assert len(tidy.runs) == 3


def test_a_finding_without_a_place_is_not_lost(tmp_path):
    sources = [write(tmp_path, "a.cc", "int a;\n"), write(tmp_path, "b.cc", "int b;\n")]
    tidy = ScriptedTidy(tmp_path, lambda text, file: "clang-tidy crashed\n")
    assert tidy.check(sources, ()).count("crashed") == 2
