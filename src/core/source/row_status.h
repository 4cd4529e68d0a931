// The status of an outbox row, as its application reads it, from the deliveries of its event. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"

namespace postrider {

enum class RowState : std::uint8_t { pending, retrying, delivered, failed };

[[nodiscard]] std::string_view to_string(RowState state);

/// All other states are under way.
[[nodiscard]] constexpr bool is_final(RowState state) {
  return state == RowState::delivered || state == RowState::failed;
}

/// One delivery of the row's event.
struct RowDelivery {
  DeliveryState state = DeliveryState::pending;
  std::uint32_t attempts = 0;
  WallTime due;
  std::optional<WallTime> completed_at;
  bool webhook_removed = false;
  /// Of the latest attempt, if it failed.
  std::optional<WallTime> failed_at;
  std::optional<std::uint16_t> http_status;
  std::string_view error;  // Empty: the HTTP status says it.
};

/// The sum of the deliveries of one event.
struct RowFacts {
  WallTime published_at;
  std::uint64_t expected = 0;   // Deliveries that the publish made or will make.
  std::uint64_t remaining = 0;  // Of these, still to be made from a note.
  std::uint64_t waiting = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t ended = 0;     // Dead letters and cancelled ones.
  bool has_failed = false;     // An attempt has failed, or a delivery has ended.
  std::uint32_t attempts = 0;  // The highest number.
  std::optional<WallTime> next_due;
  std::optional<WallTime> completed_at;  // The latest.
  std::optional<WallTime> failed_at;     // Of the latest failed attempt, as is `error`.
  std::string error;
  bool webhook_removed = false;  // Of some delivery that was cancelled.

  void add(const RowDelivery& delivery);

  bool operator==(const RowFacts&) const = default;
};

struct RowStatus {
  RowState state = RowState::pending;
  std::uint32_t attempts = 0;
  std::optional<std::string> last_error = std::nullopt;
  std::optional<WallTime> next_attempt_at = std::nullopt;  // nullopt: unchanged.
  std::optional<WallTime> delivered_at = std::nullopt;

  bool operator==(const RowStatus&) const = default;
};

/// Delivered when every delivery is, or if there is none. Failed when none is under way and one is
/// a dead letter or was cancelled. Retrying when one is under way and one has failed. A paused or
/// inactive webhook does not change the status: its deliveries wait.
[[nodiscard]] RowStatus row_status(const RowFacts& facts);

constexpr std::size_t row_error_bytes_max = 1'000;

/// The text as a row may have it: printable ASCII, at most `row_error_bytes_max` bytes.
[[nodiscard]] std::string row_error(std::string_view text);

}  // namespace postrider
