#include "cli/commands/command_line.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/arguments.h"
#include "cli/commands/commands.h"
#include "cli/text/print.h"
#include "cli/text/version.h"

namespace postrider::cli {
namespace {

/// Whether `value` may contain a password: addresses of databases may.
bool is_secret(std::string_view flag, std::string_view value) {
  constexpr std::array<std::string_view, 3> flags = {"--key", "--secret", "--dsn"};
  return std::ranges::find(flags, flag) != flags.end() ||
         ((flag == "--to" || flag == "--store") && value.starts_with("postgres"));
}

/// Overwrites secrets among the arguments, which every user of the machine can list.
void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    char* value = equals == std::string_view::npos ? nullptr : argv[i] + equals + 1;
    if (value == nullptr && i + 1 < argc) {
      value = argv[i + 1];
    }
    if (value != nullptr && is_secret(word.substr(0, equals), value)) {
      std::fill_n(value, std::strlen(value), '*');
    }
  }
}

/// Runs the parsed command.
struct Runner {
  const CommandHandlers& handlers;
  const Ports& ports;
  const std::vector<std::string>& arguments;

  int operator()(const ServeOptions& options) const { return handlers.serve(options); }
  int operator()(const ListenOptions& options) const { return run_listen(options, ports); }
  int operator()(const SendOptions& options) const { return run_send(options); }
  int operator()(const MigrateOptions& options) const { return handlers.migrate(options); }
  int operator()(const BackupOptions& options) const { return handlers.backup(options); }
  int operator()(const CopyStoreOptions& options) const { return handlers.copy(options); }
  int operator()(const OutboxInitOptions& options) const { return handlers.init_outbox(options); }
  int operator()(const VersionOptions& options) const { return run_version(options); }
  int operator()(const Task& task) const { return task.run(ports); }
  int operator()(const HelpText& help) const {
    print(help.text);
    return exit_ok;
  }
  int operator()(const UsageError& error) const {
    if (error.of_server &&
        handlers.report_usage(arguments, fmt::format("{} {}", error.message, error.hint))) {
      return exit_usage;
    }
    print_error(fmt::format("postrider: {}\n{}\n", error.message, error.hint));
    return exit_usage;
  }
};

}  // namespace

int run_version(const VersionOptions& options) {
  print(options.json ? fmt::format("{{\"version\":\"{}\"}}\n", version())
                     : fmt::format("postrider {}\n", version()));
  return exit_ok;
}

int run_command_line(int argc, char** argv, const CommandHandlers& handlers, const Ports& ports) {
  try {
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
      arguments.emplace_back(argv[i]);
    }
    hide_secrets(argc, argv);
    const Command command = parse_arguments(arguments, ports.environment);
    return std::visit(Runner{handlers, ports, arguments}, command);
  } catch (const std::exception& exception) {  // Last resort for exceptions of libraries.
    print_error(fmt::format("postrider: {}\n", exception.what()));
    return exit_failed;
  }
}

}  // namespace postrider::cli
