// One HTTP request of a delivery and what came of it.
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

/// How long each part took. A part that did not happen (a reused connection resolves nothing) is
/// zero.
struct Timings {
  Micros dns{0};
  Micros connect{0};
  Micros tls{0};
  Micros first_byte{0};

  bool operator==(const Timings&) const = default;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// What the transport saw. `failure` is set when no complete HTTP response came; else `http_status`
/// is.
struct Outcome {
  std::optional<std::uint16_t> http_status;
  std::optional<FailureCategory> failure;
  std::string error_message;    // A sentence for the webhook's owner. Empty on a complete response.
  std::string response_sample;  // At most response_sample_bytes_max, raw bytes.
  Headers response_headers;     // At most response_headers_max of them.
  std::optional<Millis> retry_after;  // What the receiver asked for, already relative.
  std::string remote_ip;              // Empty when no connection was made.
  Timings timings;
  WallTime executed_at;
  Micros duration{0};

  bool operator==(const Outcome&) const = default;
};

constexpr std::size_t response_sample_bytes_max = 1024;  // The first lines of an error page.
constexpr std::size_t response_headers_max = 32;         // A polite receiver sends about ten.

/// The record that is kept. `(delivery, number)` is unique.
struct Attempt {
  AttemptId id;
  std::uint32_t number = 1;  // 1-based, over the delivery's whole life.
  Trigger trigger = Trigger::scheduled;
  WallTime scheduled_at;
  Outcome outcome;
  std::optional<FailureCategory> failure_category;  // None: succeeded. Derived from the outcome.
  std::optional<WallTime> next_retry_at;

  bool operator==(const Attempt&) const = default;
};

}  // namespace postrider
