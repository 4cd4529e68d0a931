// What an operation does next, what a chunk of it consists of, and what becomes of it afterwards:
// decisions only. runtime/admin/operation_runner.h carries them out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/policy/token_bucket.h"
#include "engine/intake/directory.h"
#include "ports/ledger.h"
#include "ports/operations.h"

namespace postrider {

constexpr std::uint32_t chunk_max = 250;     // A transaction of some milliseconds.
constexpr Millis chunk_pause{25};            // Deliveries come first; 10,000 a second are enough.
constexpr Millis scan_pause{5};              // After a page that was only read.
constexpr Millis failure_pause{2'000};       // After the store failed.
constexpr std::size_t unfinished_max = 100;  // Scheduled and running ones.
constexpr std::size_t running_max = 4;       // At a time; the others wait their turn.

/// How fast one operation may go. Its rate is that of the requests it asks for; what it only looks
/// at is paced by the pauses.
struct Pace {
  std::optional<TokenBucket> bucket;
  MonoTime not_before;
  bool fruitless = false;  // The last page asked for nothing: there may be many such.
};

/// Starts without tokens: how many were taken before is not known (P7).
[[nodiscard]] Pace make_pace(const OperationSpec& spec, MonoTime now);
/// A page was read, and so many requests were asked for.
void charge(Pace& pace, std::size_t requests, MonoTime now);

struct WaitForStart {
  WallTime at;
};
struct WaitForPace {
  MonoTime at;
};
/// It is time: mark it as running.
struct Begin {};
/// Count what there is to do.
struct CountTotal {};
/// Read the next part, and carry out what asks for no more than so many requests.
struct TakeChunk {
  std::uint32_t limit = 0;
  std::uint32_t orders_max = 0;
};
/// It is over.
struct Rest {};
using OperationMove = std::variant<WaitForStart, WaitForPace, Begin, CountTotal, TakeChunk, Rest>;

[[nodiscard]] OperationMove next_move(const Operation& operation, const Pace& pace, Moment now);

/// A run begins. It acts on what is there before `now`.
[[nodiscard]] Operation begun(Operation operation, WallTime now);
/// There is so much to do; over when that is nothing.
[[nodiscard]] Operation counted(Operation operation, std::uint64_t total, WallTime now);
/// Over for good, or until the next run.
[[nodiscard]] Operation finished(Operation operation, WallTime now);
[[nodiscard]] Operation failed(Operation operation, std::string error, WallTime now);
[[nodiscard]] Operation cancelled(Operation operation, WallTime now);

/// What it looks at. Of a running operation. A replay leaves out types that its webhook does not
/// want.
[[nodiscard]] DeliveryFilter dead_letters_of(const Operation& operation);
[[nodiscard]] EventFilter events_of(const Operation& operation, const Webhook& webhook);

/// One transaction's worth.
struct ChunkPlan {
  Batch batch;
  std::uint64_t failed = 0;
  std::int64_t place = 0;
  bool last = false;

  [[nodiscard]] std::size_t orders() const {
    return batch.revivals.size() + batch.late_deliveries.size() + batch.cancels.size();
  }
  /// Only the place is new. That need not be stored: looking again after a crash changes nothing.
  [[nodiscard]] bool is_idle() const { return orders() == 0 && failed == 0 && !last; }
};

/// What a retry or a discard goes by.
struct DeadLetterContext {
  const Directory& directory;  // A dead letter whose webhook is gone has nowhere to go.
  Moment now;
  std::size_t orders_max = chunk_max;
};
[[nodiscard]] ChunkPlan plan_dead_letters(const Operation& operation,
                                          const Listed<DeliveryRecord>& page,
                                          const DeadLetterContext& context);

/// What a replay goes by.
struct ReplayContext {
  const Webhook& webhook;
  const std::function<Uuid()>& new_uuid;
  Moment now;
  std::size_t orders_max = chunk_max;
};
[[nodiscard]] ChunkPlan plan_replay(const Operation& operation, const Listed<EventForWebhook>& page,
                                    const ReplayContext& context);
/// How many of these a replay would send.
[[nodiscard]] std::uint64_t count_replayed(const Operation& operation,
                                           const Listed<EventForWebhook>& page,
                                           const Webhook& webhook);

/// At the end of a run everything that was counted is done, skipped or failed.
[[nodiscard]] Operation after_chunk(Operation operation, const ChunkPlan& plan,
                                    const BatchReceipt& receipt, WallTime now);

}  // namespace postrider
