// The settings of a `[[notification_channels]]` table: one row each, as for all other settings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/setting.h"

namespace postrider::config {

/// `setting` reads and assigns the last of Config::channels.
struct ChannelSetting {
  Setting setting;
  std::vector<ChannelKind> kinds;  // That have it. Empty: all.
};

/// In the order in which they are printed. `kind` is the second.
[[nodiscard]] const std::vector<ChannelSetting>& channel_settings();

/// Returns nullptr if there is no such setting.
[[nodiscard]] const ChannelSetting* find_channel_setting(std::string_view key);

[[nodiscard]] bool applies_to(const ChannelSetting& setting, ChannelKind kind);

/// The URL without what follows the host, which may be a credential.
[[nodiscard]] std::string shown_channel_url(std::string_view url);

[[nodiscard]] std::string_view to_string(SmtpSecurity security);
[[nodiscard]] std::optional<SmtpSecurity> parse_smtp_security(std::string_view text);

}  // namespace postrider::config
