// Event types, and the patterns by which a webhook subscribes to them: an exact name
// (`swap.created`), a prefix (`swap.*`, which matches `swap.created` and `swap.leg.created` but not
// `swap`), or everything (`*`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace postrider {

constexpr std::size_t event_type_length_max = 256;

/// 1..256 characters of letters, digits and `_ - .`, with no empty part between dots.
[[nodiscard]] bool is_event_type(std::string_view text);

class EventPattern {
 public:
  [[nodiscard]] static std::optional<EventPattern> parse(std::string_view text);

  [[nodiscard]] bool matches(std::string_view event_type) const;
  [[nodiscard]] const std::string& text() const { return text_; }

  auto operator<=>(const EventPattern&) const = default;

 private:
  explicit EventPattern(std::string_view text) : text_(text) {}
  std::string text_;
};

}  // namespace postrider
