// The words of status filters. Besides the states of a delivery, common words of other systems are
// accepted as aliases:
//
//   success, delivered        succeeded
//   exhausted, dead_lettered  dead_letter
//   failed                    retrying and dead_letter: the latest attempt failed
//   circuit_blocked           waiting deliveries that an open circuit holds back
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/attempt_list.h"
#include "core/model/delivery.h"

#include "api/json/query_reader.h"

namespace postrider::api {

/// See the same members of DeliveryFilter.
struct StatusFilter {
  std::vector<DeliveryState> states;  // No duplicates.
  bool circuit_blocked = false;
};

/// Reads the parameter `status` of a list of deliveries.
[[nodiscard]] StatusFilter read_status(QueryReader& query);

/// Reads the parameter `status` of a list of dead letters, which cannot restrict it further.
void check_dead_letter_status(QueryReader& query);

/// The state of finished deliveries that a word means. Returns nullopt if it means none.
[[nodiscard]] std::optional<DeliveryState> parse_final_status(std::string_view word);

[[nodiscard]] std::optional<AttemptStatus> parse_attempt_status(std::string_view word);
constexpr std::string_view attempt_status_words =
    "succeeded, failed, timeout or exhausted (or an alias: success, delivered, failure, "
    "dead_letter, circuit_blocked)";

}  // namespace postrider::api
