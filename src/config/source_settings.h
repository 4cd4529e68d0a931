// The settings of a `[[sources]]` table: one row each, as for all other settings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/setting.h"

namespace postrider::config {

/// `setting` reads and assigns the last of Config::sources.
struct SourceSetting {
  Setting setting;
  std::vector<SourceKind> kinds;  // That have it. Empty: all.
};

/// In the order in which they are printed. `kind` is the second.
[[nodiscard]] const std::vector<SourceSetting>& source_settings();

/// Returns nullptr if there is no such setting.
[[nodiscard]] const SourceSetting* find_source_setting(std::string_view key);

[[nodiscard]] bool applies_to(const SourceSetting& setting, SourceKind kind);

/// Which fields of a message the members of an event come from, if the source does not state it.
[[nodiscard]] std::map<std::string, std::vector<std::string>, std::less<>> default_fields(
    SourceKind kind);

[[nodiscard]] std::string_view to_string(SourceKind kind);
[[nodiscard]] std::optional<SourceKind> parse_source_kind(std::string_view text);
[[nodiscard]] std::string_view to_string(OutboxMode mode);
[[nodiscard]] std::optional<OutboxMode> parse_outbox_mode(std::string_view text);

}  // namespace postrider::config
