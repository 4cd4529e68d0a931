// A long-running operation on many deliveries: bulk retry or discard of dead letters, or the replay
// of a time range to a webhook.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery_filter.h"
#include "core/model/event.h"

namespace postrider {

enum class OperationKind : std::uint8_t { retry_batch, replay, discard };
enum class OperationStatus : std::uint8_t { scheduled, running, completed, cancelled, failed };

constexpr EnumNames<OperationKind, OperationKind::discard> operation_kinds{
    {"retry_batch", "replay", "discard"}};
constexpr EnumNames<OperationStatus, OperationStatus::failed> operation_statuses{
    {"scheduled", "running", "completed", "cancelled", "failed"}};

/// Scheduled or running.
[[nodiscard]] constexpr bool is_unfinished(OperationStatus status) {
  return status == OperationStatus::scheduled || status == OperationStatus::running;
}

struct OperationSpec {
  /// retry_batch, discard: the dead letters. replay: one webhook, the states of the deliveries to
  /// revive, and the events (`from` and `to` apply to the events' created_at).
  DeliveryFilter filter;
  std::optional<Priority> priority = std::nullopt;  // nullopt: unchanged.
  std::optional<std::uint32_t> requests_per_second = std::nullopt;
  std::optional<WallTime> start_at = std::nullopt;
  std::optional<std::chrono::seconds> repeat_every = std::nullopt;

  bool operator==(const OperationSpec&) const = default;
};

/// What became of the deliveries that an operation revived or added. Each counts once per run:
/// `requeued` is the sum of the other numbers and of those that still wait.
struct OperationOutcomes {
  std::uint64_t requeued = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t dead_again = 0;
  std::uint64_t cancelled = 0;

  [[nodiscard]] std::uint64_t waiting() const {
    return requeued - (succeeded + dead_again + cancelled);
  }

  bool operator==(const OperationOutcomes&) const = default;
};

/// Acts on dead letters and events that exist at `started_at`. A run visits them once, in one
/// direction; `place` is the position it has reached. Repeating a part after a crash has no effect.
struct Operation {
  OperationId id;
  OperationKind kind = OperationKind::retry_batch;
  std::optional<TenantId> tenant_id = std::nullopt;  // nullopt: all tenants.
  OperationStatus status = OperationStatus::scheduled;
  OperationSpec spec;
  std::optional<std::uint64_t> total = std::nullopt;  // Of this run; nullopt until counted.
  std::uint64_t done = 0;                             // Revived, added or discarded.
  std::uint64_t skipped = 0;                          // Had changed meanwhile.
  std::uint64_t failed = 0;                           // Their webhook no longer exists.
  OperationOutcomes outcomes = {};  // Of this run, and of those that waited when it began.
  std::int64_t place = 0;           // A sequence; 0: at the beginning.
  std::uint32_t runs = 0;           // Finished runs, if it repeats.
  WallTime due;                     // Start time of the next run.
  WallTime created_at;
  std::optional<WallTime> started_at = std::nullopt;           // Of this run, or of the last one.
  std::optional<WallTime> requeue_finished_at = std::nullopt;  // Nothing is left to be requeued.
  std::optional<WallTime> finished_at = std::nullopt;          // Everything has settled, too.
  std::string error;                                           // A sentence, if it failed.

  bool operator==(const Operation&) const = default;
};

[[nodiscard]] inline bool is_requeueing(const Operation& operation) {
  return operation.status == OperationStatus::running && !operation.requeue_finished_at;
}

/// False once nothing is left but to wait for outcomes.
[[nodiscard]] inline bool has_work(const Operation& operation) {
  return operation.status == OperationStatus::scheduled || is_requeueing(operation);
}

}  // namespace postrider
