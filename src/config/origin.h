// The origin of a setting's value, in two parts for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postrider::config {

struct Origin {
  std::string source;  // default, profile, file, environment or flag.
  /// Which one: `tenant`, `postrider.toml:12`, `POSTRIDER_LISTEN`, `--listen`. A value that a
  /// preset of that source set has `preset, ` before it. nullopt for `default`.
  std::optional<std::string> detail;

  bool operator==(const Origin&) const = default;
};

/// `text` is what Loaded::origin_of() returns.
[[nodiscard]] Origin split_origin(std::string_view text);

}  // namespace postrider::config
