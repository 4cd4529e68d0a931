// Decides the next step of an operation, the contents of a chunk, and the state of the operation
// after it. Pure: runtime/admin/operation_runner.h performs the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery_filter.h"
#include "core/model/delivery_record.h"
#include "core/model/operation.h"
#include "core/model/page.h"
#include "core/model/webhook.h"
#include "core/policy/token_bucket.h"
#include "engine/batch.h"
#include "engine/intake/directory.h"

namespace postrider {

constexpr std::uint32_t chunk_max = 250;     // Bounds one transaction to a few milliseconds.
constexpr Millis chunk_pause{25};            // Deliveries go first; 10,000 per second are enough.
constexpr Millis scan_pause{5};              // After a page without actions.
constexpr Millis failure_pause{2'000};       // After a store failure.
constexpr std::size_t unfinished_max = 100;  // Scheduled and running operations.
constexpr std::size_t running_max = 8;       // Running at the same time; the others wait.

/// Limits the speed of one operation. The rate applies to the requests it causes; scanning is
/// slowed down by the pauses.
struct Pace {
  std::optional<TokenBucket> bucket;
  MonoTime not_before;
  bool last_page_empty = false;  // The last page gave no action; the next ones may not either.
};

/// The bucket starts empty: the tokens taken before a restart are unknown (P7).
[[nodiscard]] Pace make_pace(const OperationSpec& spec, MonoTime now);
/// Call after a page was read and `requests` actions were taken from it.
void charge(Pace& pace, std::size_t requests, MonoTime now);

struct WaitForStart {
  WallTime at;
};
struct WaitForPace {
  MonoTime at;
};
/// The start time has come: mark the operation as running.
struct Begin {};
/// Count what there is to do.
struct CountTotal {};
/// Read the next page of at most `limit` items and perform at most `actions_max` actions.
struct TakeChunk {
  std::uint32_t limit = 0;
  std::uint32_t actions_max = 0;
};
/// The operation has ended, or only waits for outcomes, which the store counts.
struct Done {};
using OperationStep = std::variant<WaitForStart, WaitForPace, Begin, CountTotal, TakeChunk, Done>;

[[nodiscard]] OperationStep next_step(const Operation& operation, const Pace& pace, Moment now);

/// Starts a run. It acts on what exists at `now`. Deliveries of the run before that still wait
/// count on.
[[nodiscard]] Operation start_run(Operation operation, WallTime now);
/// Finishes the run if `total` is 0.
[[nodiscard]] Operation set_total(Operation operation, std::uint64_t total, WallTime now);
/// Everything is requeued. Completes the operation if everything has settled, or schedules its next
/// run if it repeats.
[[nodiscard]] Operation finish_run(Operation operation, WallTime now);
[[nodiscard]] Operation fail_run(Operation operation, std::string error, WallTime now);
/// Nothing more is requeued. What is requeued goes on, and its outcome is counted.
[[nodiscard]] Operation cancel_run(Operation operation, WallTime now);

/// What a running operation reads. A replay leaves out event types that its webhook does not
/// subscribe to.
[[nodiscard]] DeliveryFilter dead_letters_of(const Operation& operation);
[[nodiscard]] EventFilter events_of(const Operation& operation, const Webhook& webhook);

/// The contents of one transaction.
struct ChunkPlan {
  Batch batch;
  std::uint64_t failed = 0;  // Dead letters whose webhook no longer exists.
  std::int64_t place = 0;    // Operation::place afterwards.
  bool last = false;

  /// The number of deliveries that are revived, added or cancelled.
  [[nodiscard]] std::size_t action_count() const {
    return batch.revivals.size() + batch.late_deliveries.size() + batch.cancels.size();
  }
  /// Only the place changes. It need not be stored: scanning again after a crash has no effect.
  [[nodiscard]] bool is_idle() const { return action_count() == 0 && failed == 0 && !last; }
};

struct DeadLetterContext {
  const Directory& directory;  // Dead letters of unknown webhooks are not retried.
  Moment now;
  std::size_t actions_max = chunk_max;
};
/// Plans a chunk of a retry or a discard.
[[nodiscard]] ChunkPlan plan_dead_letters(const Operation& operation,
                                          const Listed<DeliveryRecord>& page,
                                          const DeadLetterContext& context);

struct ReplayContext {
  const Webhook& webhook;
  const std::function<Uuid()>& new_uuid;
  Moment now;
  std::size_t actions_max = chunk_max;
};
[[nodiscard]] ChunkPlan plan_replay(const Operation& operation, const Listed<EventForWebhook>& page,
                                    const ReplayContext& context);
/// The number of items of the page that a replay would send.
[[nodiscard]] std::uint64_t count_replayed(const Operation& operation,
                                           const Listed<EventForWebhook>& page,
                                           const Webhook& webhook);

/// The operation after a chunk was committed. At the end of a run, everything that was counted is
/// done, skipped or failed.
[[nodiscard]] Operation after_chunk(Operation operation, const ChunkPlan& plan,
                                    const BatchReceipt& receipt, WallTime now);

}  // namespace postrider
