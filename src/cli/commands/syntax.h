// What a command understands: its options, flags and words, and the commands below it. The
// commands know CLI11 by this alone: its headers cost seconds in every file that includes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name.
class App;
class Option;
}  // namespace CLI

namespace postrider::cli {

/// Where an option's value goes: any of these, by reference. It is written while the command line
/// is parsed, so it has to stay where it is until then. A list grows by one value each time its
/// option is given; any other option may be given once.
using Target = std::variant<
    std::reference_wrapper<std::string>, std::reference_wrapper<std::optional<std::string>>,
    std::reference_wrapper<std::vector<std::string>>, std::reference_wrapper<std::uint16_t>,
    std::reference_wrapper<std::optional<std::uint16_t>>, std::reference_wrapper<std::uint32_t>,
    std::reference_wrapper<std::optional<std::uint32_t>>, std::reference_wrapper<std::uint64_t>,
    std::reference_wrapper<double>>;

/// Something that was declared. Each call says more about it and returns it for the next; what the
/// given value breaks is a usage error. Copies are the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required();
  /// For a list that takes no second value.
  Option once();
  Option one_of(const std::vector<std::string>& values);
  Option range(int min, int max);
  Option range(double min, double max);
  /// From zero on.
  Option at_most(std::uint32_t max);
  /// Above zero.
  Option positive();
  Option excludes(const Option& other);

  /// The help names as its default what the target holds now.
  Option show_default();
  /// The help names this as its default.
  Option show_default(const std::string& text);
  /// Not in the help.
  Option hidden();

  /// `--limit`.
  [[nodiscard]] std::string name() const;

 private:
  CLI::Option* option_;
};

/// One command, or the program itself, while it is declared. A view: whoever parses owns what is
/// behind it, and copies are the same command.
class Syntax {
 public:
  explicit Syntax(CLI::App& app) : app_(&app) {}

  /// `--limit N`: the name, a space, and the value as the help shows it.
  Option option(const std::string& usage, Target target, const std::string& description);
  /// `--json`: takes no value.
  Option flag(const std::string& name, bool& target, const std::string& description);
  /// `ID`: a word that is told by its place and has to be there.
  Option argument(const std::string& name, Target target, const std::string& description);

  /// A command below this one.
  Syntax command(const std::string& name, const std::string& description);
  /// What the help ends with. Commands made after it inherit it.
  void footer(const std::string& text);

  [[nodiscard]] std::string name() const;
  /// After the parse: whether the words led here.
  [[nodiscard]] bool chosen() const;
  /// For those who read the declarations.
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace postrider::cli
