#include "core/model/attempt.h"

#include <fmt/format.h>

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<FailureCategory, FailureCategory::protocol> category_names{
    {"timeout", "server_error", "client_error", "network", "dns", "ssl", "rate_limit",
     "payload_too_large", "redirect", "blocked_address", "protocol"}};
static_assert(category_names.names.size() == failure_category_count);

constexpr EnumNames<Trigger, Trigger::test> trigger_names{
    {"scheduled", "manual", "replay", "test"}};

}  // namespace

std::string_view to_string(FailureCategory category) { return category_names.name(category); }

std::optional<FailureCategory> parse_failure_category(std::string_view text) {
  return category_names.find(text);
}

std::string short_failure(const Outcome& outcome, FailureCategory category) {
  return outcome.http_status ? fmt::format("HTTP {}", *outcome.http_status)
                             : std::string{to_string(category)};
}

std::string_view to_string(Trigger trigger) { return trigger_names.name(trigger); }

std::optional<Trigger> parse_trigger(std::string_view text) { return trigger_names.find(text); }

}  // namespace postrider
