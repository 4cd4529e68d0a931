// One HTTP request of a delivery and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace postrider {

enum class FailureCategory : std::uint8_t {
  timeout,
  server_error,
  client_error,
  network,
  dns,
  ssl,
  rate_limit,
  payload_too_large,
  redirect,
  blocked_address,
  protocol,
};
constexpr std::size_t failure_category_count = 11;

[[nodiscard]] std::string_view to_string(FailureCategory category);
[[nodiscard]] std::optional<FailureCategory> parse_failure_category(std::string_view text);

/// Why the attempt was made.
enum class Trigger : std::uint8_t { scheduled, manual, replay, test };

[[nodiscard]] std::string_view to_string(Trigger trigger);
[[nodiscard]] std::optional<Trigger> parse_trigger(std::string_view text);

/// The duration of each phase. Zero for a phase that did not happen, such as DNS on a reused
/// connection.
struct Timings {
  Micros dns{0};
  Micros connect{0};
  Micros tls{0};
  Micros first_byte{0};

  bool operator==(const Timings&) const = default;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// What this server lacked, so that nothing was sent and nothing was learnt about the receiver.
enum class Shortage : std::uint8_t {
  none,
  destination,  // Of what this receiver needs, such as local ports. Others are not affected.
  server,       // Of file descriptors or memory. Every new connection is affected.
};

/// The result as the transport saw it. `failure` is set if no complete HTTP response arrived. The
/// other fields of the response are set as far as it arrived; without `failure`, `http_status` is.
struct Outcome {
  std::optional<std::uint16_t> http_status;
  std::optional<FailureCategory> failure;
  std::string error_message;  // A sentence for the webhook's owner. Empty if `failure` is not set.
  std::string response_sample;        // At most response_sample_bytes_max, raw bytes.
  Headers response_headers;           // At most response_headers_max.
  std::optional<Millis> retry_after;  // The receiver's Retry-After, as a duration.
  std::string remote_ip;              // Empty if no connection was made.
  Timings timings;
  WallTime executed_at;
  Micros duration{0};
  Shortage shortage = Shortage::none;  // Otherwise no attempt was made. Never stored.

  bool operator==(const Outcome&) const = default;
};

/// `HTTP 503` or the category. Contains nothing that the receiver wrote, and no address.
[[nodiscard]] std::string short_failure(const Outcome& outcome, FailureCategory category);

constexpr std::size_t response_sample_bytes_max = 1024;  // The first lines of an error page.
constexpr std::size_t response_headers_max = 32;         // A typical response has about ten.

/// The stored record of an attempt. `(delivery, number)` is unique.
struct Attempt {
  AttemptId id;
  std::uint32_t number = 1;  // 1-based. Not reset when the delivery is revived.
  Trigger trigger = Trigger::scheduled;
  WallTime scheduled_at;
  Outcome outcome;
  std::optional<FailureCategory> failure_category;  // None: succeeded. Derived from the outcome.
  std::optional<WallTime> next_retry_at;

  bool operator==(const Attempt&) const = default;
};

}  // namespace postrider
