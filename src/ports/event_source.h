// A server that events are taken from: the outbox of an application, a stream or a queue.
//
// A source hands out batches of messages. A message is acknowledged only after its event is on disk
// (P1), so a crash at any time repeats messages and loses none; the idempotency key of the event
// removes the repetition (P3).
//
// Owned by one thread, which makes all calls except `interrupt`. Calls block for a bounded time.
// Errors: unavailable, with a sentence for the operator, if the server cannot be reached or refuses
// to serve. The caller then calls `connect` again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/source/source_record.h"

namespace postrider {

/// The event is on disk, now or since an earlier publish with the same idempotency key.
struct RecordStored {
  EventId event_id;
  bool duplicate = false;
};
/// The message can never become an event. The source keeps it aside with the reason.
struct RecordRejected {
  std::string reason;  // A sentence.
};
/// The server cannot accept the message at present. The source offers it again.
struct RecordDeferred {};
using RecordOutcome = std::variant<RecordStored, RecordRejected, RecordDeferred>;

struct SettledRecord {
  std::string receipt;
  RecordOutcome outcome;
};

struct ReceiveOptions {
  std::size_t records_max = 500;
  Millis wait_max{1'000};  // For the first message.
};

/// What is known about the messages that have not been received. nullopt: unknown.
struct SourceLag {
  std::optional<std::uint64_t> messages = std::nullopt;
  std::optional<Millis> oldest_age = std::nullopt;
};

class EventSource {
 public:
  virtual ~EventSource() = default;

  /// Connects, or connects again. Messages that were received and not settled are offered again.
  virtual Result<void> connect() = 0;

  /// Waits for messages. Returns none if the time is over, another node reads this source, or
  /// `interrupt` was called. Call only if all messages received before are settled.
  virtual Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) = 0;

  /// Reports the outcome of every received message, in the order in which they were received.
  /// Returns once the source's server knows it. After an error it may know a part of it; what it
  /// does not know is offered again.
  virtual Result<void> settle(const std::vector<SettledRecord>& records) = 0;

  virtual Result<SourceLag> lag() = 0;

  /// Another node reads this source; this one takes over when that node has gone.
  [[nodiscard]] virtual bool is_standby() const { return false; }

  /// Makes a waiting `receive`, and the next one if none waits, return soon. Any thread.
  virtual void interrupt() = 0;
};

}  // namespace postrider
