#include "config/print.h"

#include <fmt/format.h>

#include "config/channel_print.h"
#include "config/profiles.h"
#include "config/settings.h"
#include "config/source_print.h"

namespace postrider::config {
namespace {

constexpr std::string_view introduction =
    "# Configuration\n"
    "\n"
    "Postrider runs without any configuration. Settings come from five sources; later sources "
    "win:\n"
    "\n"
    "1. the defaults in the tables below,\n"
    "2. a profile: `--profile NAME`, `POSTRIDER_PROFILE`, or `profile = \"NAME\"` in the file,\n"
    "3. a TOML file: `--config FILE` or `POSTRIDER_CONFIG`,\n"
    "4. environment variables: `listen` is `POSTRIDER_LISTEN`, `api.body_bytes_max` is "
    "`POSTRIDER_API_BODY_BYTES_MAX`; separate list items with commas,\n"
    "5. flags: `--data`, `--listen` and the other flags in `postrider serve --help`, and `--set "
    "KEY=VALUE` for any setting.\n"
    "\n"
    "`postrider serve --print-config` prints the effective configuration as TOML (as JSON with "
    "`--json`) with the origin of each value, and exits. An unknown key, a wrong type or a value "
    "out of range is an error that names the file and the line (exit code 2).\n"
    "\n"
    "`kill -HUP` makes a running server reload its configuration. Settings marked *yes* under "
    "*reload* take effect immediately; changes to other settings are logged as a warning and take "
    "effect after a restart. If the configuration is invalid, nothing changes and the error is "
    "logged. Policies under `webhooks.` apply to webhooks created afterwards; existing webhooks "
    "keep theirs.\n"
    "\n"
    "A preset (`webhooks.retry.preset`, `webhooks.circuit_breaker.preset`) resets its section; "
    "other settings from the same source refine it.\n"
    "\n"
    "Secrets are not settings. `POSTRIDER_ADMIN_KEY` is the admin key; use at least 16 visible "
    "ASCII characters. Without it, the first start creates an admin key and prints it once. A new "
    "value replaces the key that this variable set before. `POSTRIDER_SECRETS_KEY` is the key that "
    "encrypts stored secrets. Neither is ever printed.\n"
    "\n"
    "A `POSTRIDER_` variable that looks like a mistyped setting is an error. Any other variable "
    "that is not a setting has no effect; the log and `--print-config` list it.\n"
    "\n"
    "To add event types to the catalogue at start, use `[[event_types]]` tables with `name` and "
    "`description`.\n"
    "\n"
    "Profiles built into the program (also as files in `deploy/profiles`): ";

std::string section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string{} : std::string{key.substr(0, dot)};
}

std::string name_of_key(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return std::string{dot == std::string_view::npos ? key : key.substr(dot + 1)};
}

std::string secret_note(std::string_view name, bool is_set) {
  return is_set ? fmt::format("# {} is set and not shown.\n", name) : std::string{};
}

std::string secret_of(bool is_set) { return is_set ? "set, not shown" : "not set"; }

/// Escapes pipes, which would end the table cell.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

}  // namespace

std::string print_config(const Loaded& loaded) {
  std::string out;
  std::string section;
  for (const Setting& setting : all_settings()) {
    if (section_of(setting.key) != section) {
      section = section_of(setting.key);
      out += fmt::format("\n[{}]\n", section);
    }
    out += fmt::format("{} = {}  # {}\n", name_of_key(setting.key),
                       to_toml(setting.read(loaded.config)), loaded.origin_of(setting.key));
  }
  for (const EventTypeConfig& type : loaded.config.event_types) {
    out += fmt::format("\n[[event_types]]  # {}\nname = {}\ndescription = {}\n",
                       loaded.origin_of(event_type_key(type.name)), to_toml(type.name),
                       to_toml(type.description));
  }
  out += print_sources(loaded);
  out += print_channels(loaded);
  out += "\n";
  for (const std::string& name : loaded.unknown_variables) {
    out += fmt::format("# {} is not a setting and has no effect.\n", to_toml(name));
  }
  out += secret_note("POSTRIDER_ADMIN_KEY", loaded.config.admin_key.has_value());
  out += secret_note("POSTRIDER_SECRETS_KEY", loaded.config.secrets.key.has_value());
  return out;
}

// TOML and JSON write all these values in the same way.
std::string print_config_json(const Loaded& loaded) {
  std::string settings;
  for (const Setting& setting : all_settings()) {
    settings += fmt::format(
        "{}\n    \"{}\": {{\"value\": {}, \"origin\": {}}}", settings.empty() ? "" : ",",
        setting.key, to_toml(setting.read(loaded.config)), to_toml(loaded.origin_of(setting.key)));
  }
  std::string types;
  for (const EventTypeConfig& type : loaded.config.event_types) {
    types += fmt::format("{}\n    {{\"name\": {}, \"description\": {}, \"origin\": {}}}",
                         types.empty() ? "" : ",", to_toml(type.name), to_toml(type.description),
                         to_toml(loaded.origin_of(event_type_key(type.name))));
  }
  return fmt::format(
      "{{\n  \"settings\": {{{}\n  }},\n  \"event_types\": [{}],\n  \"sources\": [{}],\n"
      "  \"notification_channels\": [{}],\n"
      "  \"unknown_variables\": {},\n"
      "  \"secrets\": {{\"POSTRIDER_ADMIN_KEY\": {}, \"POSTRIDER_SECRETS_KEY\": {}}}\n}}\n",
      settings, types, print_sources_json(loaded), print_channels_json(loaded),
      to_toml(Texts{loaded.unknown_variables}),
      to_toml(secret_of(loaded.config.admin_key.has_value())),
      to_toml(secret_of(loaded.config.secrets.key.has_value())));
}

std::string print_reference() {
  const Config defaults;
  std::string out{introduction};
  for (const std::string_view name : profile_names()) {
    out += fmt::format("{}`{}`", out.back() == ' ' ? "" : ", ", name);
  }
  out += ".\n";
  std::string section = "none yet";
  for (const Setting& setting : all_settings()) {
    if (section_of(setting.key) != section) {
      section = section_of(setting.key);
      out += fmt::format("\n## {}\n\n| setting | default | meaning | reload |\n|---|---|---|---|\n",
                         section.empty() ? "Server" : "`[" + section + "]`");
    }
    out += fmt::format("| `{}` | `{}` | {} It {}. | {} |\n", setting.key,
                       to_toml(setting.read(defaults)), cell(setting.help), cell(setting.rule),
                       setting.reloads ? "yes" : "restart");
  }
  out += print_source_reference();
  out += print_channel_reference();
  return out;
}

}  // namespace postrider::config
