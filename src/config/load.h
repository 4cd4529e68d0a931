// From the five sources to one configuration: defaults, profile, file, environment, flags; later
// ones win.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

#include "config/config.h"
#include "config/layer.h"

namespace postrider::config {

struct Sources {
  std::string profile;  // --profile; empty: POSTRIDER_PROFILE, or what the file says.
  std::string file;     // --config; empty: POSTRIDER_CONFIG, or none.
  Variables variables;  // The environment, or the part that begins with POSTRIDER_.
  std::vector<Override> overrides;
  /// Reads a whole file. The error is a sentence.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct Loaded {
  Config config;
  std::map<std::string, std::string> origins;  // Of each setting that is not at its default.
  std::vector<std::string> unknown_variables;  // POSTRIDER_ variables that mean nothing here.

  /// Of a setting, or of an event type by its `event_type_key`:
  /// `default`, `profile tenant`, `postrider.toml:12`, `environment POSTRIDER_…`, `flag --listen`.
  [[nodiscard]] std::string origin_of(const std::string& key) const;
};

[[nodiscard]] std::string event_type_key(std::string_view name);

/// Errc::invalid with one sentence that names the place.
[[nodiscard]] Result<Loaded> load(const Sources& sources);

/// What a reload changes, by key.
struct Changes {
  std::vector<std::string> now;         // In force from now on.
  std::vector<std::string> at_restart;  // Different in the file; takes a restart.
};
[[nodiscard]] Changes compare(const Config& running, const Config& wanted);

/// `wanted` where a reload can change something, `running` everywhere else.
[[nodiscard]] Config merge_reload(const Config& running, const Config& wanted);

}  // namespace postrider::config
