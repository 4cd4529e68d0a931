// One source of settings: a file, a profile, the environment, the flags.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

#include "config/config.h"
#include "config/value.h"

namespace postrider::config {

struct Assignment {
  std::string key;     // The key of a setting.
  Value value;         // Has the kind of the setting.
  std::string origin;  // Shown to users: `postrider.toml:12`, `environment POSTRIDER_LISTEN` …
};

struct EventTypeEntry {
  EventTypeConfig type;
  std::string origin;
};

/// A table of a list: `[[sources]]`, whose keys are those of source_settings() and
/// `fields.<member>`, or `[[notification_channels]]`, whose keys are those of channel_settings().
struct TableEntry {
  std::vector<Assignment> assignments;
  std::string origin;
};

struct Layer {
  std::vector<Assignment> assignments;
  std::vector<EventTypeEntry> event_types;
  std::vector<TableEntry> sources;
  std::vector<TableEntry> channels;
};

/// Fails with invalid; the message starts with `name`, the name of the file, and the line.
[[nodiscard]] Result<Layer> read_toml(std::string_view text, const std::string& name);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Reads the variables that name a setting. `unknown_variables` receives the other POSTRIDER_
/// variables, which an orchestrator may have set. Fails with invalid if a name looks mistyped.
/// Skips those that `file` names as the place of an address or a secret.
[[nodiscard]] Result<Layer> read_variables(const Variables& variables, const Layer& file,
                                           std::vector<std::string>& unknown_variables);

/// A setting given on the command line.
struct Override {
  std::string key;
  std::string value;
  std::string flag;  // `--listen`.
};
[[nodiscard]] Result<Layer> read_flags(const std::vector<Override>& overrides);

}  // namespace postrider::config
