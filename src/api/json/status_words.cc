#include "api/json/status_words.h"

#include <algorithm>
#include <string>

namespace postrider::api {
namespace {

constexpr std::string_view circuit_blocked_word = "circuit_blocked";

constexpr std::string_view delivery_words =
    "pending, retrying, succeeded, dead_letter or cancelled (deliveries that are in flight or "
    "blocked count as pending or retrying), or an alias: success, delivered, failed, exhausted, "
    "dead_lettered, circuit_blocked";

/// Empty if the word is unknown.
std::vector<DeliveryState> states_of(std::string_view word) {
  if (const std::optional<DeliveryState> state = parse_delivery_state(word)) {
    return {*state};
  }
  if (word == "success" || word == "delivered") {
    return {DeliveryState::succeeded};
  }
  if (word == "exhausted" || word == "dead_lettered") {
    return {DeliveryState::dead_letter};
  }
  if (word == "failed") {
    return {DeliveryState::retrying, DeliveryState::dead_letter};
  }
  return {};
}

}  // namespace

StatusFilter read_status(QueryReader& query) {
  StatusFilter filter;
  for (const std::string& word : query.list("status")) {
    if (word == circuit_blocked_word) {
      filter.circuit_blocked = true;
      continue;
    }
    const std::vector<DeliveryState> states = states_of(word);
    if (states.empty()) {
      query.refuse("status", "must be " + std::string{delivery_words} + ".");
    }
    for (const DeliveryState state : states) {
      if (std::ranges::find(filter.states, state) == filter.states.end()) {
        filter.states.push_back(state);
      }
    }
  }
  return filter;
}

void check_dead_letter_status(QueryReader& query) {
  for (const std::string& word : query.list("status")) {
    if (parse_final_status(word) != DeliveryState::dead_letter) {
      query.refuse("status",
                   "must be dead_letter (or an alias: failed, exhausted, "
                   "dead_lettered). For other deliveries use /v1/deliveries.");
    }
  }
}

std::optional<DeliveryState> parse_final_status(std::string_view word) {
  for (const DeliveryState state : states_of(word)) {
    if (!is_waiting(state)) {
      return state;
    }
  }
  return std::nullopt;
}

std::optional<AttemptStatus> parse_attempt_status(std::string_view word) {
  if (word == "succeeded" || word == "success" || word == "delivered") {
    return AttemptStatus::succeeded;
  }
  if (word == "failed" || word == "failure") {
    return AttemptStatus::failed;
  }
  if (word == "timeout") {
    return AttemptStatus::timeout;
  }
  if (word == "exhausted" || word == "dead_letter" || word == "dead_lettered") {
    return AttemptStatus::exhausted;
  }
  return word == circuit_blocked_word ? std::optional{AttemptStatus::blocked} : std::nullopt;
}

}  // namespace postrider::api
