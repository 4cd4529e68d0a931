#include "config/print.h"

#include <fmt/format.h>

#include "config/profiles.h"
#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::string_view introduction =
    "# Configuration\n"
    "\n"
    "Postrider needs none. Settings come from five places; later ones win:\n"
    "\n"
    "1. the defaults in the tables below,\n"
    "2. a profile: `--profile NAME`, `POSTRIDER_PROFILE`, or `profile = \"NAME\"` in the file,\n"
    "3. a TOML file: `--config FILE` or `POSTRIDER_CONFIG`,\n"
    "4. environment variables: `listen` is `POSTRIDER_LISTEN`, `api.body_bytes_max` is "
    "`POSTRIDER_API_BODY_BYTES_MAX`; lists are separated by commas,\n"
    "5. flags: `--data`, `--listen` and the others of `postrider serve --help`, and "
    "`--set KEY=VALUE` for every setting.\n"
    "\n"
    "`postrider serve --print-config` prints the configuration in force as TOML (as JSON with "
    "`--json`), with the place each value came from, and exits. A key that does not exist, a wrong "
    "type or a value out of "
    "range is refused with the file and the line (exit code 2).\n"
    "\n"
    "`kill -HUP` makes a running server read everything again. Settings marked *yes* under "
    "*reload* change at once; others are named in a warning and wait for the next start. A file "
    "with a mistake changes nothing, and the log says so. Policies under `webhooks.` are those of "
    "webhooks created from then on; existing webhooks keep theirs.\n"
    "\n"
    "A preset (`webhooks.retry.preset`, `webhooks.circuit_breaker.preset`) starts its section "
    "over; the other settings of the same place refine it.\n"
    "\n"
    "Secrets are not settings: `POSTRIDER_ADMIN_KEY`, at best 16 visible ASCII characters or more, "
    "is the "
    "admin key to accept instead of a new one that is printed once; it replaces the one this "
    "variable set before. "
    "`POSTRIDER_SECRETS_KEY` is the key that encrypts stored secrets. Neither is ever printed.\n"
    "\n"
    "A `POSTRIDER_` variable that looks like a mistyped setting is refused; any other that is not "
    "a setting has no effect, and the log and `--print-config` name it.\n"
    "\n"
    "Event types that should be in the catalogue are tables: `[[event_types]]` with `name` and "
    "`description`.\n"
    "\n"
    "Profiles in the binary (`deploy/profiles` has them as files): ";

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

/// A pipe would end the cell.
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
  out += "\n";
  for (const std::string& name : loaded.unknown_variables) {
    out += fmt::format("# {} is not a setting and has no effect.\n", to_toml(name));
  }
  out += secret_note("POSTRIDER_ADMIN_KEY", loaded.config.admin_key.has_value());
  out += secret_note("POSTRIDER_SECRETS_KEY", loaded.config.secrets.key.has_value());
  return out;
}

// TOML spells all these values as JSON does.
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
      "{{\n  \"settings\": {{{}\n  }},\n  \"event_types\": [{}],\n  \"unknown_variables\": {},\n"
      "  \"secrets\": {{\"POSTRIDER_ADMIN_KEY\": {}, \"POSTRIDER_SECRETS_KEY\": {}}}\n}}\n",
      settings, types, to_toml(Texts{loaded.unknown_variables}),
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
                         section.empty() ? "The server" : "`[" + section + "]`");
    }
    out += fmt::format("| `{}` | `{}` | {} It {}. | {} |\n", setting.key,
                       to_toml(setting.read(defaults)), cell(setting.help), cell(setting.rule),
                       setting.reloads ? "yes" : "restart");
  }
  return out;
}

}  // namespace postrider::config
