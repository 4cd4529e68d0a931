#include "cli/commands/syntax.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace postrider::cli {
namespace {

CLI::Option& add_option(CLI::App& app, const std::string& name, const Target& target,
                        const std::string& description) {
  CLI::Option* const option = std::visit(
      [&](const auto& reference) { return app.add_option(name, reference.get(), description); },
      target);
  return *option->allow_extra_args(false);  // One value per occurrence, also for a list.
}

}  // namespace

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::once() {
  option_->expected(1);
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option Option::range(int min, int max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option Option::range(double min, double max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option Option::at_most(std::uint32_t max) {
  option_->check(CLI::Range(max));
  return *this;
}

Option Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option Option::hidden() {
  option_->group("");  // CLI11 hides a group without a name.
  return *this;
}

std::string Option::name() const { return option_->get_name(); }

Option Syntax::option(const std::string& usage, Target target, const std::string& description) {
  const std::size_t space = usage.find(' ');
  CLI::Option& option = add_option(*app_, usage.substr(0, space), target, description);
  if (space != std::string::npos) {
    option.option_text(usage.substr(space + 1));
  }
  return Option{option};
}

Option Syntax::flag(const std::string& name, bool& target, const std::string& description) {
  return Option{*app_->add_flag(name, target, description)};
}

Option Syntax::argument(const std::string& name, Target target, const std::string& description) {
  return Option{*add_option(*app_, name, target, description).required()};
}

Syntax Syntax::command(const std::string& name, const std::string& description) {
  return Syntax{*app_->add_subcommand(name, description)->group("Commands")};
}

void Syntax::footer(const std::string& text) { app_->footer(text); }

std::string Syntax::name() const { return app_->get_name(); }

bool Syntax::chosen() const { return app_->parsed(); }

}  // namespace postrider::cli
