"""When a source that clang-tidy found clean is checked again."""

import pytest

from checked_sources import CheckedSources


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / ".clang-tidy").write_text("Checks: a\n")
    (tmp_path / "a.cc").write_text('#include "base/a.h"\nint a;\n')
    (tmp_path / "base" / "a.h").write_text('#include "base/b.h"\n')
    (tmp_path / "base" / "b.h").write_text("int b;\n")
    return tmp_path


FLAGS = ("-O2",)


def checked(tree, flags=FLAGS, tool="version 1"):
    found = CheckedSources(tree / "checked", tool, tree)
    return found, tree / "a.cc", (*flags, f"-I{tree}")


def test_a_clean_source_is_remembered(tree):
    found, source, flags = checked(tree)
    assert not found.contains(source, flags)
    found.add(source, flags)
    assert CheckedSources(tree / "checked", "version 1", tree).contains(source, flags)


@pytest.mark.parametrize("file", ["a.cc", "base/a.h", "base/b.h", ".clang-tidy"])
def test_it_is_checked_again_when_what_decides_the_answer_changes(tree, file):
    found, source, flags = checked(tree)
    found.add(source, flags)
    with open(tree / file, "a", encoding="utf-8") as end:
        end.write("// changed\n")
    assert not found.contains(source, flags)


def test_it_is_checked_again_with_other_flags(tree):
    found, source, flags = checked(tree)
    found.add(source, flags)
    assert not found.contains(source, ("-O0", *flags))


def test_it_is_checked_again_by_another_version_of_the_tool(tree):
    found, source, flags = checked(tree)
    found.add(source, flags)
    assert not checked(tree, tool="version 2")[0].contains(source, flags)


def test_a_header_that_it_does_not_include_changes_nothing(tree):
    found, source, flags = checked(tree)
    found.add(source, flags)
    (tree / "base" / "c.h").write_text("int c;\n")
    assert found.contains(source, flags)
