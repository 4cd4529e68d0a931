// The format of `--help`: the name of the value after the flag, its default in the description.
#pragma once

#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace postrider::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }

 private:
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_required()) {
      text += " (required)";
    }
    const std::string standard = option->get_default_str();
    return standard.empty() || standard == "0" ? text : text + " (default " + standard + ")";
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "\nUsage: " + name;
    for (const CLI::Option* option : app->get_options()) {
      usage += option->get_positional() ? " " + option->get_name() : "";
    }
    return usage + (app->get_subcommands(nullptr).empty() ? "" : " COMMAND") + " [OPTIONS]\n";
  }
};

}  // namespace postrider::cli
