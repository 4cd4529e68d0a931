"""Help, the manual page and shell completions: each has every command and every flag."""

import re
import shutil
import subprocess

import pytest

from harness import DEADLINE, ROOT, run_command

MANUAL = ROOT / "docs" / "man" / "postrider.1"


def help_of(*words):
    code, stdout, stderr = run_command(*words, "--help")
    assert (code, stderr) == (0, ""), (words, stderr)
    return stdout


def commands_in(text):
    """The names under `Commands:`."""
    _, found, rest = text.partition("Commands:\n")
    return re.findall(r"^  ([a-z][a-z-]*)  ", rest.split("\n\n")[0], re.MULTILINE) if found else []


def flags_in(text):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def tree():
    """{("webhooks", "list"): its flags, …} from the output of --help."""
    found = {(): flags_in(help_of())}
    for command in commands_in(help_of()):
        found[command,] = flags_in(help_of(command))
        for child in commands_in(help_of(command)):
            found[command, child] = flags_in(help_of(command, child))
    return found


def test_help_lists_every_command(tree):
    assert {("serve",), ("webhooks", "rotate-secret"), ("events", "get"), ("deliveries", "cancel"),
            ("dlq", "retry-batch"), ("replay",), ("verify",), ("keys", "rotate"), ("doctor",),
            ("migrate",), ("backup",), ("archive", "verify"), ("completion",)} <= set(tree)
    for words, flags in tree.items():
        is_group = any(other[:-1] == words for other in tree if other)
        assert "--help" in flags
        if words and not is_group and words != ("completion",):
            assert "--json" in flags, f"{words} has no --json"


def test_the_manual_page_in_docs_is_up_to_date():
    code, made, _ = run_command("completion", "man")
    assert code == 0
    assert made == MANUAL.read_text(), (
        "docs/man/postrider.1 is out of date; run: postrider completion man >docs/man/postrider.1")


def test_the_manual_page_mentions_every_command_and_flag(tree):
    text = MANUAL.read_text().replace("\\-", "-")
    for words, flags in tree.items():
        heading = f'.SS "postrider {" ".join(words)}' if words else ".SH OPTIONS"
        assert heading in text, heading
        section = text.split(heading)[1].split("\n.SS ")[0]
        for flag in flags - {"--help"}:
            assert flag in section, f"{flag} of {words}"


def test_the_manual_page_renders_without_warnings():
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(MANUAL)],
                          capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def complete(*words):
    """The completions that bash offers after these words and a tab."""
    script = run_command("completion", "bash")[1]
    typed = " ".join(f'"{word}"' for word in ("postrider", *words))
    program = (f"{script}\nCOMP_WORDS=({typed})\nCOMP_CWORD={len(words)}\n_postrider\n"
               'printf "%s\\n" "${COMPREPLY[@]}"\n')
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_bash_completes_commands_subcommands_and_flags(tree):
    for words, flags in tree.items():
        children = {other[-1] for other in tree if other and other[:-1] == words}
        offered = complete(*words, "")
        assert children <= offered and flags <= offered, words
    assert complete("web") == {"webhooks"}
    assert complete("webhooks", "re") == {"resume"}
    assert complete("webhooks", "list", "--li") == {"--limit"}
    assert complete("webhooks", "list", "--limit", "3", "--cur") == {"--cursor"}
    assert complete("completion", "z") == {"zsh"}


def test_bash_offers_nothing_for_the_value_of_a_flag():
    assert complete("serve", "--data", "") == set()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_scripts_are_valid_and_complete(shell, tree, tmp_path):
    assert shutil.which(shell), f"{shell} is in tools/packages.txt"
    code, script, _ = run_command("completion", shell)
    assert code == 0
    file = tmp_path / "script"
    file.write_text(script)
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True,
                          timeout=DEADLINE, check=False,
                          env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "")
    flag_of = {"zsh": r"(?<![\w-])--{}(?![\w-])", "fish": r"-l {}(?![\w-])"}[shell]
    for words, flags in tree.items():
        for word in words:
            assert re.search(rf"(?<![\w-]){word}(?![\w-])", script), word
        for flag in flags:
            assert re.search(flag_of.format(flag.removeprefix("--")), script), flag


def test_an_unknown_shell_is_refused():
    code, stdout, stderr = run_command("completion", "tcsh")
    assert (code, stdout) == (2, "") and "tcsh" in stderr
