// What an operation does next, what a chunk of it consists of, and what becomes of it afterwards:
// decisions only. runtime/operation_runner.h carries them out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/token_bucket.h"
#include "engine/directory.h"
#include "ports/ledger.h"
#include "ports/operations.h"

namespace postrider {

constexpr std::uint32_t chunk_max = 250;     // A transaction of some milliseconds.
constexpr Millis chunk_pause{25};            // Deliveries come first; 10,000 a second are enough.
constexpr Millis failure_pause{2'000};       // After the store failed.
constexpr std::size_t unfinished_max = 100;  // Scheduled and running ones.
constexpr std::size_t running_max = 4;       // At a time; the others wait their turn.

/// How fast one operation may go.
struct Pace {
  std::optional<TokenBucket> bucket;
  MonoTime not_before;
};

/// Starts without tokens: how many were taken before is not known (P7).
[[nodiscard]] Pace make_pace(const OperationSpec& spec, MonoTime now);
/// So many requests were asked for.
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
/// Read and carry out the next part, at most so many.
struct TakeChunk {
  std::uint32_t limit = 0;
};
/// It is over.
struct Rest {};
using OperationMove = std::variant<WaitForStart, WaitForPace, Begin, CountTotal, TakeChunk, Rest>;

[[nodiscard]] OperationMove next_move(const Operation& operation, const Pace& pace, Moment now);

/// A run begins. It acts on what is there before `now`.
[[nodiscard]] Operation begun(Operation operation, WallTime now);
[[nodiscard]] Operation counted(Operation operation, std::uint64_t total);
/// Over for good, or until the next run.
[[nodiscard]] Operation finished(Operation operation, WallTime now);
[[nodiscard]] Operation failed(Operation operation, std::string error, WallTime now);
[[nodiscard]] Operation cancelled(Operation operation, WallTime now);

/// What it looks at. Of a running operation.
[[nodiscard]] DeliveryFilter dead_letters_of(const Operation& operation);
[[nodiscard]] EventFilter events_of(const Operation& operation, const Webhook& webhook);

/// One transaction's worth.
struct ChunkPlan {
  Batch batch;
  std::uint64_t skipped = 0;
  std::uint64_t failed = 0;
  std::int64_t place = 0;
  bool last = false;

  [[nodiscard]] std::size_t orders() const {
    return batch.revivals.size() + batch.enrolments.size() + batch.cancels.size();
  }
};

/// `directory`: a dead letter whose webhook is gone has nowhere to go.
[[nodiscard]] ChunkPlan plan_dead_letters(const Operation& operation,
                                          const Listed<DeliveryRecord>& page,
                                          const Directory& directory, Moment now);

/// What a replay goes by.
struct ReplayContext {
  const Webhook& webhook;
  const std::function<Uuid()>& new_uuid;
  Moment now;
};
[[nodiscard]] ChunkPlan plan_replay(const Operation& operation, const Listed<EventForWebhook>& page,
                                    const ReplayContext& context);

[[nodiscard]] Operation after_chunk(Operation operation, const ChunkPlan& plan,
                                    const BatchReceipt& receipt, WallTime now);

}  // namespace postrider
