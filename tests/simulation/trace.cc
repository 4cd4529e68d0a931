#include "tests/simulation/trace.h"

#include <fmt/format.h>

namespace postrider::sim {
namespace {

std::string text_of(const StartAttempt& start) {
  return fmt::format("start {} webhook {} attempt {} timeout {} ms", start.delivery.id.to_string(),
                     start.delivery.webhook_id.to_string(), start.attempt_number,
                     start.timeout.count());
}

std::string text_of(const Settle& settle) {
  const Delivery& delivery = settle.settlement.delivery;
  return fmt::format("settle {} {} due {} attempts {} budget {}", delivery.id.to_string(),
                     to_string(delivery.state), to_unix_ms(delivery.due), delivery.attempt_count,
                     delivery.budget_used);
}

std::string text_of(const LoadLane& load) {
  return fmt::format("load {} limit {} before {}", load.webhook_id.to_string(), load.limit,
                     to_unix_ms(load.due_before));
}

std::string text_of(const Reschedule& reschedule) {
  return fmt::format("reschedule {}", reschedule.webhook_id.to_string());
}

std::string text_of(const SetAlarm& alarm) {
  return fmt::format("alarm {}", alarm.at.time_since_epoch().count());
}

std::string text_of(const SaveCircuit& save) {
  return fmt::format("circuit {} {} openings {}", save.webhook_id.to_string(),
                     to_string(save.record.state), save.record.openings_in_row);
}

std::string text_of(const DisableWebhook& disable) {
  return fmt::format("disable {}", disable.webhook_id.to_string());
}

std::string text_of(const RaiseAlert& alert) {
  return fmt::format("alert {} {}", to_string(alert.kind), alert.webhook_id.to_string());
}

std::string text_of(const EndAttempts& end) { return fmt::format("end attempts {}", end.shard); }

std::string text_of(const CircuitCommandReturned& returned) {
  return fmt::format("command returned {}", returned.command.webhook_id.to_string());
}

std::string text_of(const ShardHandedBack& back) { return fmt::format("back {}", back.shard); }

std::string text_of(const Drained&) { return "drained"; }

}  // namespace

std::string describe(const Command& command) {
  return std::visit([](const auto& each) { return text_of(each); }, command);
}

}  // namespace postrider::sim
