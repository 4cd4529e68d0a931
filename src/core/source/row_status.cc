#include "core/source/row_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<RowState, RowState::failed> row_state_names{
    {"pending", "retrying", "delivered", "failed"}};

std::string error_text(const RowDelivery& delivery) {
  if (!delivery.error.empty()) {
    return row_error(delivery.error);
  }
  return delivery.http_status
             ? fmt::format("The receiver answered with HTTP status {}.", *delivery.http_status)
             : std::string{"The attempt failed."};
}

/// Why a row failed whose last attempt, if any, did not.
std::string ended_text(const RowFacts& facts) {
  if (facts.ended == 0) {
    return "The deliveries of this event were removed before they ended.";
  }
  return facts.webhook_removed ? "The webhook was removed." : "The delivery was cancelled.";
}

}  // namespace

std::string_view to_string(RowState state) { return row_state_names.name(state); }

std::string row_error(std::string_view text) {
  std::string printable{text.substr(0, row_error_bytes_max)};
  std::ranges::replace_if(
      printable, [](char character) { return character < ' ' || character > '~'; }, '?');
  return printable;
}

void RowFacts::add(const RowDelivery& delivery) {
  if (is_waiting(delivery.state)) {
    ++waiting;
    next_due = std::min(next_due.value_or(delivery.due), delivery.due);
    has_failed = has_failed || delivery.attempts > 0;
  } else if (delivery.state == DeliveryState::succeeded) {
    ++succeeded;
  } else {
    ++ended;
    has_failed = true;
    webhook_removed =
        webhook_removed || (delivery.webhook_removed && delivery.state == DeliveryState::cancelled);
  }
  attempts = std::max(attempts, delivery.attempts);
  completed_at = std::max(completed_at, delivery.completed_at);
  if (delivery.failed_at && (!failed_at || *failed_at <= *delivery.failed_at)) {
    failed_at = delivery.failed_at;
    error = error_text(delivery);
  }
}

RowStatus row_status(const RowFacts& facts) {
  RowStatus status{.attempts = facts.attempts};
  if (facts.failed_at) {
    status.last_error = facts.error;
  }
  if (facts.waiting > 0 || facts.remaining > 0) {
    status.state = facts.has_failed ? RowState::retrying : RowState::pending;
    status.next_attempt_at = facts.next_due;
    return status;
  }
  const bool has_no_subscriber = facts.expected == 0 && facts.succeeded + facts.ended == 0;
  if (has_no_subscriber || (facts.ended == 0 && facts.succeeded > 0)) {
    status.state = RowState::delivered;
    status.delivered_at = facts.completed_at.value_or(facts.published_at);
    status.last_error = has_no_subscriber
                            ? std::optional<std::string>{"No webhook is subscribed to this event."}
                            : std::nullopt;
    return status;
  }
  status.state = RowState::failed;
  if (!status.last_error) {
    status.last_error = ended_text(facts);
  }
  return status;
}

}  // namespace postrider
