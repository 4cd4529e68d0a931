// Maps enum values to their names and back, for enums whose values are 0, 1, 2, …
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/base/assert.h"

namespace postrider {

/// One name per value, in the order of the values; `Last` is the enum's last value.
template <class Enum, Enum Last>
struct EnumNames {
  std::array<std::string_view, static_cast<std::size_t>(Last) + 1> names;

  [[nodiscard]] constexpr std::string_view name(Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    POSTRIDER_ASSERT(index < names.size());
    return names[index];
  }

  /// The value with exactly this name. Returns nullopt if there is none.
  [[nodiscard]] constexpr std::optional<Enum> find(std::string_view text) const {
    for (std::size_t index = 0; index < names.size(); ++index) {
      if (names[index] == text) {
        return static_cast<Enum>(index);
      }
    }
    return std::nullopt;
  }
};

}  // namespace postrider
