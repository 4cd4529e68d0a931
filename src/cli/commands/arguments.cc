#include "cli/commands/arguments.h"

#include <algorithm>
#include <map>
#include <utility>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "core/base/suggestion.h"

#include "cli/commands/help_formatter.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/syntax.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider serve --allow-private-targets --allow-http
  postrider listen --secret whsec_...
  postrider send --type order.paid --data '{"order": 17}'
  postrider webhooks create https://example.com/hooks --event 'order.*'
  postrider doctor

Run `postrider COMMAND --help` for the options of a command.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.)";

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return names;
}

/// The innermost command that was recognized.
const CLI::App& chosen_of(const CLI::App& app) {
  const CLI::App* chosen = &app;
  for (std::vector<CLI::App*> next = app.get_subcommands(); !next.empty();
       next = chosen->get_subcommands()) {
    chosen = next.front();
  }
  return *chosen;
}

/// `webhooks list`; empty for the program itself.
std::string path_of(const CLI::App& chosen) {
  const CLI::App* const parent = chosen.get_parent();
  if (parent == nullptr) {
    return {};
  }
  const std::string before = path_of(*parent);
  return before.empty() ? chosen.get_name() : before + " " + chosen.get_name();
}

std::string see_help(const CLI::App& chosen) {
  const std::string words = path_of(chosen);
  return fmt::format("See `postrider{}{} --help`.", words.empty() ? "" : " ", words);
}

UsageError unknown_word(const CLI::App& app, const std::string& argument) {
  const CLI::App& chosen = chosen_of(app);
  const bool is_flag = argument.starts_with('-');
  const std::string word = argument.substr(0, argument.find('='));
  const std::vector<std::string> commands = names_of_commands(chosen);
  const bool is_command = !is_flag && !commands.empty();
  const std::string words = path_of(chosen);
  std::string kind = is_command ? "a command" : "expected here";
  if (is_flag) {
    kind = "an option";
  }
  if ((is_flag || is_command) && !words.empty()) {
    kind += fmt::format(" of `{}`", words);
  }
  UsageError error{.message = fmt::format("`{}` is not {}.", word, kind), .hint = see_help(chosen)};
  const std::optional<std::string> meant =
      closest(word, is_flag ? names_of_options(chosen) : commands);
  if (meant && (is_flag || is_command)) {
    error.hint = fmt::format("Did you mean `{}`?", *meant);
  }
  if (word == "--url") {
    error.hint = "The server is named with --server or POSTRIDER_SERVER.";
  }
  return error;
}

UsageError describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unexpected = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unexpected.empty()) {
    return unknown_word(app, unexpected.front());
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = message.substr(0, message.find(':')) + " needs a value.";
  }
  if (!message.ends_with('.')) {
    message += '.';
  }
  return {.message = std::move(message), .hint = see_help(chosen_of(app))};
}

Command parse(CLI::App& app, std::vector<std::string> arguments, const Environment& environment) {
  const Syntax root{app};
  std::map<std::string, std::unique_ptr<Subcommand>> commands;
  commands["serve"] = add_serve(root);
  commands["listen"] = add_listen(root);
  commands["send"] = add_send(root);
  commands["webhooks"] = add_webhooks(root);
  commands["events"] = add_events(root);
  commands["deliveries"] = add_deliveries(root);
  commands["dlq"] = add_dlq(root);
  commands["operations"] = add_operations(root);
  commands["sources"] = add_sources(root);
  commands["nodes"] = add_nodes(root);
  commands["channels"] = add_channels(root);
  commands["replay"] = add_replay(root);
  commands["verify"] = add_verify(root);
  commands["keys"] = add_keys(root);
  commands["doctor"] = add_doctor(root);
  commands["migrate"] = add_migrate(root);
  commands["backup"] = add_backup(root);
  commands["copy"] = add_copy(root);
  commands["outbox"] = add_outbox(root);
  commands["archive"] = add_archive(root);
  commands["completion"] = add_completion(root);
  commands["version"] = add_version(root);

  std::ranges::reverse(arguments);  // CLI11 expects them in reverse order.
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return HelpText{app.help()};
  } catch (const CLI::ParseError& error) {
    return describe(app, error);
  }

  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    return app.count("--version") > 0
               ? Command{VersionOptions{}}
               : Command{UsageError{.message = "No command given.", .hint = see_help(app)}};
  }
  Result<Command> command = commands.at(chosen.front()->get_name())->finish(environment);
  if (!command) {
    return UsageError{.message = command.error().message, .hint = see_help(chosen_of(app))};
  }
  return *std::move(command);
}

}  // namespace

Command parse_arguments(std::vector<std::string> arguments, const Environment& environment) {
  CLI::App app{"Postrider delivers webhooks: durable, signed, retried.", "postrider"};
  app.footer("");                // Subcommands inherit a footer; each has its own.
  app.require_subcommand(0, 1);  // Also inherited. finish() has a better message if none is given.
  bool version_wanted = false;
  app.add_flag("--version", version_wanted, "Print the version and exit");
  app.formatter(std::make_shared<HelpFormatter>());
  Command command = parse(app, std::move(arguments), environment);
  if (UsageError* error = std::get_if<UsageError>(&command)) {
    error->of_server = chosen_of(app).get_name() == "serve";
  }
  if (HelpText* help = std::get_if<HelpText>(&command);
      help != nullptr && app.get_subcommands().empty()) {
    help->text += fmt::format("\n{}\n", examples);
  }
  return command;
}

}  // namespace postrider::cli
