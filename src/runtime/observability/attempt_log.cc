#include "runtime/observability/attempt_log.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace postrider {

std::string log_safe(std::string_view text, std::size_t length_max) {
  std::string safe;
  safe.reserve(std::min(text.size(), length_max));
  append_log_safe(safe, text, length_max);
  return safe;
}

void log_attempt(const Settlement& settlement) {
  if (!settlement.attempt || !spdlog::should_log(spdlog::level::info)) {
    return;
  }
  const Attempt& attempt = *settlement.attempt;
  const Outcome& outcome = attempt.outcome;
  fmt::memory_buffer line;
  fmt::format_to(std::back_inserter(line),
                 "delivery.attempted delivery={} webhook={} event={} type={} attempt={} trigger={} "
                 "state={} http_status={} failure={} duration_ms={:.1f} remote_ip={} trace_id={}",
                 settlement.delivery.id.to_string(), settlement.delivery.webhook_id.to_string(),
                 settlement.delivery.event_id.to_string(), settlement.delivery.event_type,
                 attempt.number, to_string(attempt.trigger), to_string(settlement.delivery.state),
                 outcome.http_status.value_or(0),
                 attempt.failure_category ? to_string(*attempt.failure_category) : "none",
                 static_cast<double>(outcome.duration.count()) / 1000.0,
                 outcome.remote_ip.empty() ? "none" : outcome.remote_ip,
                 to_string(trace_id_of(settlement.delivery)));
  if (!outcome.error_message.empty()) {
    fmt::format_to(std::back_inserter(line), " error=\"{}\"", log_safe(outcome.error_message));
  }
  if (settlement.dead) {
    fmt::format_to(std::back_inserter(line), " dead=\"{}\"", log_safe(settlement.dead->reason));
  }
  spdlog::info(std::string_view{line.data(), line.size()});
}

void log_dead_letter(const Settlement& settlement) {
  if (!spdlog::should_log(spdlog::level::warn)) {
    return;
  }
  const Delivery& delivery = settlement.delivery;
  spdlog::warn(
      "delivery.dead_letter delivery={} webhook={} event={} type={} attempts={} reason=\"{}\" "
      "trace_id={}",
      delivery.id.to_string(), delivery.webhook_id.to_string(), delivery.event_id.to_string(),
      delivery.event_type, delivery.attempt_count, log_safe(settlement.dead->reason),
      to_string(trace_id_of(delivery)));
}

}  // namespace postrider
