// The state of one source of events: when it is connected again, when it counts as failing, and
// what has become of its messages. Pure. Owned by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

enum class SourceState : std::uint8_t {
  starting,      // Not connected yet.
  connected,     // Reads messages.
  standby,       // Connected; another node reads the messages.
  reconnecting,  // The connection is lost.
  failing,       // Connecting has failed several times.
  paused,        // By a user.
  stopped        // The server is shutting down.
};

[[nodiscard]] std::string_view to_string(SourceState state);

/// What has become of messages, since the start of the server.
struct SourceCounts {
  std::uint64_t received = 0;
  std::uint64_t stored = 0;      // New events.
  std::uint64_t duplicates = 0;  // Stored by an earlier publish.
  std::uint64_t rejected = 0;
  std::uint64_t deferred = 0;  // Each time.
  std::uint64_t reconnects = 0;

  bool operator==(const SourceCounts&) const = default;
};

/// What has become of one batch.
struct BatchCounts {
  std::uint64_t stored = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t rejected = 0;
  std::uint64_t deferred = 0;
};

/// Attempts to connect that have failed in a row when a source counts as failing.
constexpr std::uint32_t source_failures_alarming = 3;

struct BackoffRange {
  Millis min;
  Millis max;
};
constexpr BackoffRange reconnect_backoff{.min = Millis{1'000}, .max = Millis{300'000}};
/// For messages that the server itself cannot store at present.
constexpr BackoffRange deferral_backoff{.min = Millis{100}, .max = Millis{10'000}};

/// The wait after the `nth` failure in a row: the minimum, doubled each time up to the maximum,
/// then shortened by up to a fifth. `nth` is at least 1, `random` in [0, 1).
[[nodiscard]] Millis backoff_delay(std::uint32_t nth, BackoffRange range, double random);

class SourceProgress {
 public:
  explicit SourceProgress(WallTime now) : since_(now) {}

  /// `connect` has succeeded. The state changes with the first successful `receive`, so that a
  /// server that accepts connections and refuses to serve counts as failing.
  void connected();
  /// `receive` has succeeded.
  void received(std::uint64_t messages, bool is_standby, WallTime now);
  /// The outcome of all received messages is known to the source. Returns how long to wait before
  /// the next batch: zero unless messages were deferred.
  [[nodiscard]] Millis settled(const BatchCounts& counts, double random);
  /// `connect`, `receive` or `settle` has failed. Returns how long to wait before connecting again.
  [[nodiscard]] Millis failed(std::string reason, WallTime now, double random);

  /// Events are on disk, whether or not the source gets to know it.
  void published(const BatchCounts& counts, WallTime now);
  void rejection_seen(std::string reason) { last_rejection_ = std::move(reason); }

  void pause(WallTime now);
  void resume(WallTime now);
  void stop(WallTime now);

  [[nodiscard]] bool needs_connect() const { return !is_connected_; }
  [[nodiscard]] bool is_paused() const { return is_paused_; }
  [[nodiscard]] SourceState state() const;
  [[nodiscard]] WallTime since() const { return since_; }
  /// A sentence. nullopt: all is well.
  [[nodiscard]] std::optional<std::string> reason() const;
  [[nodiscard]] const SourceCounts& counts() const { return counts_; }
  [[nodiscard]] std::uint32_t failed_connects() const { return failed_connects_; }
  [[nodiscard]] const std::string& last_rejection() const { return last_rejection_; }
  [[nodiscard]] std::optional<WallTime> last_event_at() const { return last_event_at_; }

 private:
  /// Sets `since_` if the state differs from `before`.
  void note_change(SourceState before, WallTime now);

  bool is_connected_ = false;
  bool ever_connected_ = false;
  bool is_working_ = false;  // `receive` has succeeded since the last failure.
  bool is_standby_ = false;
  bool is_paused_ = false;
  bool is_stopped_ = false;
  std::uint32_t failures_ = 0;         // In a row.
  std::uint32_t failed_connects_ = 0;  // In a row: without the loss of a working connection.
  std::uint32_t deferrals_ = 0;        // Batches in a row.
  std::string failure_;
  std::string last_rejection_;
  SourceCounts counts_;
  std::optional<WallTime> last_event_at_;
  WallTime since_;
};

}  // namespace postrider
