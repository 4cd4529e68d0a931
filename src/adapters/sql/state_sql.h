// Names for the numbers of states in SQL: `state = {dead_letter}`, `state <= {last_waiting}`.
//
// The names are replaced at compile time, because a partial index is used only if a query spells
// its condition with the same literal.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/model/delivery.h"
#include "ports/operations.h"

namespace postrider::sql {

/// SQL whose names have been replaced.
template <std::size_t Capacity>
struct StateSql {
  char text[Capacity] = {};
  std::size_t size = 0;

  constexpr operator std::string_view() const { return {text, size}; }
};

namespace detail {

/// Does not compile with an unknown name.
consteval char state_digit(std::string_view name) {
  constexpr struct {
    std::string_view name;
    int number;
  } states[] = {
      {"succeeded", static_cast<int>(DeliveryState::succeeded)},
      {"dead_letter", static_cast<int>(DeliveryState::dead_letter)},
      {"cancelled", static_cast<int>(DeliveryState::cancelled)},
      {"last_waiting", static_cast<int>(DeliveryState::retrying)},
      {"last_unfinished", static_cast<int>(OperationStatus::running)},
  };
  for (const auto& state : states) {
    if (state.name == name) {
      return static_cast<char>('0' + state.number);
    }
  }
  throw "unknown state";
}

}  // namespace detail

/// Replaces every name in braces by its number.
template <std::size_t Capacity>
consteval StateSql<Capacity> with_states(const char (&text)[Capacity]) {
  StateSql<Capacity> sql;
  std::string_view rest{text, Capacity - 1};
  while (!rest.empty()) {
    if (rest.front() == '{') {
      const std::size_t end = rest.find('}');
      sql.text[sql.size++] = detail::state_digit(rest.substr(1, end - 1));
      rest.remove_prefix(end + 1);
    } else {
      sql.text[sql.size++] = rest.front();
      rest.remove_prefix(1);
    }
  }
  return sql;
}

// `state <= {last_waiting}` selects exactly the deliveries that wait.
static_assert(is_waiting(DeliveryState::pending) && is_waiting(DeliveryState::retrying));
static_assert(!is_waiting(DeliveryState::succeeded) && !is_waiting(DeliveryState::dead_letter) &&
              !is_waiting(DeliveryState::cancelled));
// `status <= {last_unfinished}` selects exactly the unfinished operations.
static_assert(is_unfinished(OperationStatus::scheduled) && is_unfinished(OperationStatus::running));
static_assert(!is_unfinished(OperationStatus::completed) &&
              !is_unfinished(OperationStatus::cancelled) &&
              !is_unfinished(OperationStatus::failed));

static_assert(std::string_view{with_states("a = {dead_letter} OR a <= {last_waiting};")} ==
              "a = 3 OR a <= 1;");

}  // namespace postrider::sql
