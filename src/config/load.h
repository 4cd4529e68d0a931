// Loads the configuration from five sources: defaults, profile, file, environment, flags. Later
// sources win.
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
  std::string profile;  // --profile; empty: POSTRIDER_PROFILE, or the profile named in the file.
  std::string file;     // --config; empty: POSTRIDER_CONFIG, or none.
  Variables variables;  // At least those that begin with POSTRIDER_ or are named in the file.
  std::vector<Override> overrides;
  /// Reads a whole file. The error message is shown to the user.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct Loaded {
  Config config;
  std::map<std::string, std::string> origins;  // Of each setting that is not at its default.
  std::vector<std::string> unknown_variables;  // POSTRIDER_ variables that are not settings.

  /// The origin of a setting, of an event type by its `event_type_key`, of a source by its
  /// `source_key` or of a notification channel by its `channel_key`:
  /// `default`, `profile tenant`, `postrider.toml:12`, `environment POSTRIDER_…`, `flag --listen`.
  [[nodiscard]] std::string origin_of(const std::string& key) const;
};

[[nodiscard]] std::string event_type_key(std::string_view name);
[[nodiscard]] std::string source_key(std::string_view name);
[[nodiscard]] std::string channel_key(std::string_view name);

/// Fails with invalid; the message names the origin of the wrong value.
[[nodiscard]] Result<Loaded> load(const Sources& sources);

/// The keys that a reload finds changed.
struct Changes {
  std::vector<std::string> now;         // Take effect immediately.
  std::vector<std::string> at_restart;  // Take effect after a restart.
};
[[nodiscard]] Changes compare(const Config& running, const Config& wanted);

/// Takes reloadable settings from `wanted` and all others from `running`, with their origins.
[[nodiscard]] Loaded merge_reload(const Loaded& running, const Loaded& wanted);

}  // namespace postrider::config
