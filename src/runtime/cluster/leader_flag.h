// Whether this server does the work that one server does for all that share a store: operations,
// fan-outs, retention. Any thread may read it. Set on the store thread, so that it does not change
// during a job of that thread.
#pragma once

#include <atomic>

namespace postrider {

class LeaderFlag {
 public:
  /// True at first: a server that shares its store with nobody is the leader.
  [[nodiscard]] bool is_set() const { return set_.load(std::memory_order_acquire); }
  void set(bool leads) { set_.store(leads, std::memory_order_release); }

 private:
  std::atomic<bool> set_{true};
};

}  // namespace postrider
