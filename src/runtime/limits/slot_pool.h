// A number of slots that several workers share. Whoever is refused stands in line: a slot that is
// given back is kept for the first in line that may have it, and that worker is woken. So a busy
// worker does not starve the others, and nobody has to poll.
//
// Any thread. While nobody stands in line, taking and giving back are an atomic operation each.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace postrider {

class SlotPool {
 public:
  /// `wake` is called on the thread that gives back, under a lock: it may only pass the word on.
  explicit SlotPool(std::function<void(std::size_t worker)> wake) : wake_(std::move(wake)) {}

  /// One worker's place: whether it stands in line. Belongs to the worker's thread.
  struct Place {
    std::size_t worker = 0;
    bool waits = false;
  };

  /// Takes a slot if then no more than `max` are taken; otherwise the worker stands in line for it,
  /// with this `max`, until it is served or leaves.
  [[nodiscard]] bool take(Place& place, std::uint32_t max);
  /// Takes slots without asking.
  void add(std::uint32_t count) { taken_.fetch_add(count); }
  void give_back(const Place& place, std::uint32_t count);
  /// The worker does not want one any more. What was kept for it goes to the next.
  void leave(Place& place);

  [[nodiscard]] std::uint32_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  struct Waiter {
    std::size_t worker = 0;
    std::uint32_t max = 0;
    bool kept = false;  // It has a slot, which counts as taken.
  };

  [[nodiscard]] bool try_take(std::uint32_t max);
  void remove(std::size_t worker);
  void pass_on(std::size_t giver);
  void serve_line(std::size_t giver);

  std::function<void(std::size_t worker)> wake_;
  std::atomic<std::uint32_t> taken_{0};
  // Changed under the mutex and read without: who gives back looks at it after the count, who
  // stands in line looks at the count after it. One of them sees the other.
  std::atomic<std::uint32_t> waiter_count_{0};
  std::mutex mutex_;
  std::vector<Waiter> line_;  // First come, first served. At most one of each worker.
};

}  // namespace postrider
