// Declares the options, flags, arguments and subcommands of a command. Hides CLI11, whose headers
// are slow to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name of the library.
class App;
class Option;
}  // namespace CLI

namespace postrider::cli {

/// The variable that receives the value of an option. It must outlive the parse, which writes into
/// it. An option with a list may be repeated, and each occurrence adds a value. Any other option
/// may be given once.
using Target = std::variant<
    std::reference_wrapper<std::string>, std::reference_wrapper<std::optional<std::string>>,
    std::reference_wrapper<std::vector<std::string>>, std::reference_wrapper<std::uint16_t>,
    std::reference_wrapper<std::optional<std::uint16_t>>, std::reference_wrapper<std::uint32_t>,
    std::reference_wrapper<std::optional<std::uint32_t>>, std::reference_wrapper<std::uint64_t>,
    std::reference_wrapper<double>>;

/// A declared option. Each call adds a rule and returns the option, for chaining. A value that
/// breaks a rule is a usage error. Copies refer to the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required();
  /// Limits a list to one value.
  Option once();
  Option one_of(const std::vector<std::string>& values);
  Option range(int min, int max);
  Option range(double min, double max);
  /// From zero to `max`.
  Option at_most(std::uint32_t max);
  /// Greater than zero.
  Option positive();
  Option excludes(const Option& other);

  /// Shows the current value of the target as default in the help.
  Option show_default();
  /// Shows this text as default in the help.
  Option show_default(const std::string& text);
  /// Omits the option from the help.
  Option hidden();

  /// `--limit`.
  [[nodiscard]] std::string name() const;

 private:
  CLI::Option* option_;
};

/// A command, or the program itself. Copies refer to the same command, which parse_arguments owns.
class Syntax {
 public:
  explicit Syntax(CLI::App& app) : app_(&app) {}

  /// `usage` is the name, a space, and the value as shown in the help: `--limit N`.
  Option option(const std::string& usage, Target target, const std::string& description);
  /// An option without a value: `--json`.
  Option flag(const std::string& name, bool& target, const std::string& description);
  /// A required positional argument: `ID`.
  Option argument(const std::string& name, Target target, const std::string& description);

  /// Adds a subcommand.
  Syntax command(const std::string& name, const std::string& description);
  /// Sets the end of the help text. Subcommands added later inherit it.
  void footer(const std::string& text);

  [[nodiscard]] std::string name() const;
  /// After the parse: whether this command was chosen.
  [[nodiscard]] bool chosen() const;
  /// For code that reads the declarations.
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace postrider::cli
