#include "cli/commands/command_tree.h"

#include <algorithm>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace postrider::cli {
namespace {

void collect(const CLI::App& app, std::vector<std::string> path, std::vector<CommandInfo>& all) {
  CommandInfo info{.path = path, .description = app.get_description(), .footer = app.get_footer()};
  if (app.get_parent() != nullptr && app.get_parent()->get_footer() == info.footer) {
    info.footer.clear();  // Inherited from the parent by CLI11.
  }
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_lnames().empty() && option->get_snames().empty();
    const FlagInfo flag{
        .name = positional ? option->get_name() : "--" + option->get_lnames().front(),
        .value = option->get_expected_max() == 0 ? "" : option->get_option_text(),
        .description = option->get_description()};
    (positional ? info.positionals : info.flags).push_back(flag);
  }
  const std::vector<const CLI::App*> children = app.get_subcommands(nullptr);
  for (const CLI::App* child : children) {
    info.children.push_back(child->get_name());
  }
  all.push_back(std::move(info));
  for (const CLI::App* child : children) {
    path.push_back(child->get_name());
    collect(*child, path, all);
    path.pop_back();
  }
}

}  // namespace

std::vector<CommandInfo> command_tree(const Syntax& root) {
  std::vector<CommandInfo> all;
  collect(root.app(), {}, all);
  return all;
}

std::string joined(const std::vector<std::string>& words, const std::string& with) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : with) + word;
  }
  return text;
}

}  // namespace postrider::cli
