#include "cli/commands/completion.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::cli {
namespace {

/// In single quotes; a quote inside is closed, escaped and opened again.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  }
  return out + "'";
}

/// The commands that lead somewhere, as patterns of a shell's `case`.
std::string known_paths(const std::vector<CommandInfo>& tree) {
  std::string paths;
  for (const CommandInfo& command : tree) {
    if (!command.path.empty()) {
      paths += fmt::format("{}\"{}\"", paths.empty() ? "" : "|", joined(command.path, " "));
    }
  }
  return paths;
}

std::string words_of(const CommandInfo& command) {
  std::vector<std::string> words = command.children;
  if (command.path == std::vector<std::string>{"completion"}) {
    words.insert(words.end(), {"bash", "zsh", "fish"});
  }
  for (const FlagInfo& flag : command.flags) {
    words.push_back(flag.name);
  }
  return joined(words, " ");
}

/// Flags of any command that take a value: what follows them is not one of our words.
std::string valued_flags(const std::vector<CommandInfo>& tree) {
  std::vector<std::string> names;
  for (const CommandInfo& command : tree) {
    for (const FlagInfo& flag : command.flags) {
      if (!flag.value.empty()) {
        names.push_back(flag.name);
      }
    }
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return joined(names, "|");
}

const std::string& description_of(const std::vector<CommandInfo>& tree,
                                  std::vector<std::string> path, const std::string& child) {
  path.push_back(child);
  return std::ranges::find(tree, path, &CommandInfo::path)->description;
}

}  // namespace

std::string bash_completion(const std::vector<CommandInfo>& tree) {
  std::string cases;
  for (const CommandInfo& command : tree) {
    cases += fmt::format("    {}) words={} ;;\n", in_quotes(joined(command.path, " ")),
                         in_quotes(words_of(command)));
  }
  return fmt::format(R"(# Completion of postrider for bash. Made by: postrider completion bash
_postrider() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path="" words="" word i
  COMPREPLY=()
  case "$previous" in
    {}) return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$word" in
      {}) path="$word" ;;
    esac
  done
  case "$path" in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _postrider postrider
)",
                     valued_flags(tree), known_paths(tree), cases);
}

std::string zsh_completion(const std::vector<CommandInfo>& tree) {
  std::string cases;
  for (const CommandInfo& command : tree) {
    cases += fmt::format("    {}) ", in_quotes(joined(command.path, " ")));
    cases += "choices=(";
    for (const std::string& child : command.children) {
      cases += in_quotes(child + ":" + description_of(tree, command.path, child)) + " ";
    }
    for (const FlagInfo& flag : command.flags) {
      cases += in_quotes(flag.name + ":" + flag.description) + " ";
    }
    cases += ") ;;\n";
  }
  return fmt::format(R"(#compdef postrider
# Completion of postrider for zsh. Made by: postrider completion zsh
_postrider() {{
  local path_so_far="" word
  local -a choices
  case "${{words[CURRENT-1]}}" in
    {}) _files; return ;;
  esac
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    word="${{path_so_far:+$path_so_far }}$word"
    case "$word" in
      {}) path_so_far="$word" ;;
    esac
  done
  case "$path_so_far" in
{}  esac
  _describe 'postrider' choices || _files
}}
if [ "$funcstack[1]" = "_postrider" ]; then
  _postrider "$@"
else
  compdef _postrider postrider
fi
)",
                     valued_flags(tree), known_paths(tree), cases);
}

std::string fish_completion(const std::vector<CommandInfo>& tree) {
  std::string out = "# Completion of postrider for fish. Made by: postrider completion fish\n";
  for (const CommandInfo& command : tree) {
    std::string condition = "__fish_use_subcommand";
    if (!command.path.empty()) {
      condition = "__fish_seen_subcommand_from " +
                  joined(command.path, "; and __fish_seen_subcommand_from ");
      if (!command.children.empty()) {
        condition += "; and not __fish_seen_subcommand_from " + joined(command.children, " ");
      }
    }
    for (const std::string& child : command.children) {
      out += fmt::format("complete -c postrider -f -n {} -a {} -d {}\n", in_quotes(condition),
                         child, in_quotes(description_of(tree, command.path, child)));
    }
    for (const FlagInfo& flag : command.flags) {
      out += fmt::format("complete -c postrider -n {} -l {}{} -d {}\n", in_quotes(condition),
                         flag.name.substr(2), flag.value.empty() ? "" : " -r",
                         in_quotes(flag.description));
    }
  }
  return out;
}

}  // namespace postrider::cli
