// Runs one source of events on a thread of its own: connects, receives a batch, publishes it, tells
// the source what became of it, and starts again. Never more than one batch is in memory.
//
// All of it can fail at any point without losing a message: the source offers again what it was not
// told about.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "engine/alerts/source_alert_rules.h"
#include "engine/sources/source_progress.h"
#include "ports/clock.h"
#include "ports/event_source.h"
#include "ports/row_status_sink.h"

#include "runtime/sources/source_intake.h"

namespace postrider {

/// What is shown about a source.
struct SourceView {
  std::string name;
  std::string kind;
  SourceState state = SourceState::starting;
  WallTime since;
  std::optional<std::string> reason;
  SourceLag lag;
  SourceCounts counts;
  std::optional<WallTime> last_event_at;
};

struct SourceParts {
  std::string name;
  std::string kind;
  std::uint32_t batch_max = 500;
  std::unique_ptr<EventSource> source;
  std::unique_ptr<SourceIntake> intake;
  std::unique_ptr<RowStatusSink> row_status = nullptr;  // Null: nothing is written back.
  Millis keep_delivered{0};                             // Of rows; zero: forever.
};

/// How often the lag is measured.
constexpr Millis lag_period{5'000};
/// How long a source waits for messages before it looks whether something else is to be done.
constexpr Millis receive_wait_max{1'000};

class SourceRunner {
 public:
  /// `clock` must outlive this object.
  SourceRunner(SourceParts parts, const Clock& clock, std::uint64_t seed);
  ~SourceRunner();
  SourceRunner(const SourceRunner&) = delete;
  SourceRunner& operator=(const SourceRunner&) = delete;

  /// Starts the thread. Call once.
  void start();
  /// Receives no more messages. Those received before are published and settled. Any thread.
  void stop_receiving();
  /// Waits until the thread has ended, after stop_receiving().
  void join();

  /// Any thread. The current batch is finished first.
  void pause();
  void resume();

  /// Any thread.
  [[nodiscard]] SourceView view() const;
  [[nodiscard]] SourceFacts facts() const;
  [[nodiscard]] const std::string& name() const { return parts_.name; }

  /// One round of the thread's loop: connects if necessary, then moves one batch. Returns how long
  /// to wait before the next. For the thread, and for tests without one.
  [[nodiscard]] Millis step();

 private:
  void run();
  void wait(Millis delay);
  [[nodiscard]] Result<Millis> move_batch();
  /// Publishes the batch and tells the source. Returns how long to wait before the next batch.
  [[nodiscard]] Result<Millis> finish(const std::vector<SourceRecord>& records);
  void measure_lag();

  SourceParts parts_;
  const Clock& clock_;
  SplitMix64 random_;  // Thread only, as is the next.
  std::optional<MonoTime> lag_measured_at_;
  bool probes_ = true;  // The next receive does not wait.

  mutable std::mutex mutex_;
  std::condition_variable woken_;
  SourceProgress progress_;  // Guarded by mutex_, as are the members below.
  SourceLag lag_;
  bool is_stopping_ = false;
  bool is_woken_ = false;
  std::thread thread_;
};

}  // namespace postrider
