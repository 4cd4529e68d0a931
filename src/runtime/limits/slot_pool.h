// A number of slots shared by several workers. A worker that is refused joins a queue: a slot that
// is given back is reserved for the first worker in the queue that may have it, and that worker is
// woken. So a busy worker does not starve the others, and no worker has to poll.
//
// Any thread. While the queue is empty, taking and giving back are one atomic operation each.
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
  /// `wake` is called on the thread that gives a slot back, under a lock: it must only post a
  /// message.
  explicit SlotPool(std::function<void(std::size_t worker)> wake) : wake_(std::move(wake)) {}

  /// Whether a worker is in the queue. Belongs to the worker's thread.
  struct Place {
    std::size_t worker = 0;
    bool waits = false;
  };

  /// Takes a slot if no more than `max` are taken then. Otherwise the worker joins the queue until
  /// it gets a slot or leaves, with the largest `max` that it was refused with.
  [[nodiscard]] bool take(Place& place, std::uint32_t max);
  /// Takes slots even above the limit.
  void add(std::uint32_t count) { taken_.fetch_add(count); }
  void give_back(const Place& place, std::uint32_t count);
  /// The limits have grown: wakes the workers in the queue, so that they ask again. Any thread.
  void wake_waiting();
  /// Leaves the queue. A slot that was reserved for the worker goes to the next one.
  void leave(Place& place);

  [[nodiscard]] std::uint32_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  struct Waiter {
    std::size_t worker = 0;
    std::uint32_t max = 0;
    bool has_slot = false;  // A slot is reserved for it and counts as taken.
  };

  [[nodiscard]] bool try_take(std::uint32_t max);
  void remove(std::size_t worker);
  void pass_on(std::size_t giver);
  void serve_queue(std::size_t giver);

  std::function<void(std::size_t worker)> wake_;
  std::atomic<std::uint32_t> taken_{0};
  // Written under the mutex, read without. give_back() changes taken_ first and then reads this;
  // take() changes this first and then reads taken_. So at least one of them sees the other.
  std::atomic<std::uint32_t> waiter_count_{0};
  std::mutex mutex_;
  std::vector<Waiter> queue_;  // First come, first served. At most one per worker.
};

}  // namespace postrider
