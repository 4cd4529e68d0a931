#include "core/model/delivery.h"

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<DeliveryState, DeliveryState::cancelled> state_names{
    {"pending", "retrying", "succeeded", "dead_letter", "cancelled"}};

constexpr EnumNames<Classification, Classification::recoverable> classification_names{
    {"permanent", "recoverable"}};

}  // namespace

std::string_view to_string(DeliveryState state) { return state_names.name(state); }

std::optional<DeliveryState> parse_delivery_state(std::string_view text) {
  return state_names.find(text);
}

bool can_transition(DeliveryState from, DeliveryState to) {
  if (!is_waiting(from)) {
    // A person revives it with a fresh budget, or discards a dead letter.
    return to == DeliveryState::pending ||
           (from == DeliveryState::dead_letter && to == DeliveryState::cancelled);
  }
  // A waiting delivery may end in any way. It never becomes pending again, because that would
  // discard its history of failed attempts.
  return to != DeliveryState::pending;
}

std::string_view to_string(Classification classification) {
  return classification_names.name(classification);
}

std::optional<Classification> parse_classification(std::string_view text) {
  return classification_names.find(text);
}

}  // namespace postrider
