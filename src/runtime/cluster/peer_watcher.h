// Takes what other servers have left in the store for this one, and wakes them when there is
// something for them. Has a thread, which only waits; the work is done on the store thread.
//
// Any thread unless noted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "ports/clock.h"
#include "ports/peer_signals.h"

#include "runtime/cluster/catalog_follower.h"
#include "runtime/store/store_thread.h"

namespace postrider {

/// Called on the store thread.
class PeerWatcherOwner {
 public:
  /// Called after each round, when everything was taken.
  virtual Result<void> store_looked_at(Store& store, RepliesByShard& replies) = 0;

 protected:
  ~PeerWatcherOwner() = default;
};

class PeerWatcher {
 public:
  /// All but the signals must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    CatalogFollower* catalog = nullptr;
    std::unique_ptr<PeerSignals> signals;
    PeerWatcherOwner* owner = nullptr;
  };

  explicit PeerWatcher(Parts parts) : parts_(std::move(parts)) {}
  ~PeerWatcher() { stop(); }
  PeerWatcher(const PeerWatcher&) = delete;
  PeerWatcher& operator=(const PeerWatcher&) = delete;

  void start();
  /// Joins the thread.
  void stop();

  /// Call after storing something for other servers. Calls within a few milliseconds share a
  /// signal.
  void wake_others();

  /// Store thread. Applies and admits everything that other servers had stored before this call.
  [[nodiscard]] Result<void> take_all(Store& store, RepliesByShard& replies);

 private:
  void run();
  [[nodiscard]] Millis pause() const;
  void signal_others();
  void rest(Millis duration);
  void queue_round();
  [[nodiscard]] Result<void> take_round(Store& store, RepliesByShard& replies);

  Parts parts_;
  std::atomic<bool> signal_wanted_{false};
  std::atomic<bool> round_queued_{false};
  bool is_silent_ = false;  // The last signal or wait failed. Own thread only.

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace postrider
