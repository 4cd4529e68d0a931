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
  std::string key;     // Of a known setting.
  Value value;         // Of its kind.
  std::string origin;  // For people: `postrider.toml:12`, `environment POSTRIDER_LISTEN` …
};

struct EventTypeEntry {
  EventTypeConfig type;
  std::string origin;
};

struct Layer {
  std::vector<Assignment> assignments;
  std::vector<EventTypeEntry> event_types;
};

/// `name` is how people know the file; it stands in front of every complaint, with the line.
/// Errc::invalid with one sentence.
[[nodiscard]] Result<Layer> read_toml(std::string_view text, const std::string& name);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Variables whose name is that of a setting. `unknown_variables` receives the other POSTRIDER_
/// variables: a cluster may have put them there. One that looks mistyped is refused.
[[nodiscard]] Result<Layer> read_variables(const Variables& variables,
                                           std::vector<std::string>& unknown_variables);

/// What the command line says about a setting.
struct Override {
  std::string key;
  std::string value;
  std::string flag;  // `--listen`.
};
[[nodiscard]] Result<Layer> read_flags(const std::vector<Override>& overrides);

}  // namespace postrider::config
