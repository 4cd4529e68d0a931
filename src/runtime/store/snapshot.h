// A value that many threads read and one thread replaces as a whole.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace postrider {

template <class T>
class Snapshot {
 public:
  explicit Snapshot(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  [[nodiscard]] std::shared_ptr<const T> get() const {
    const std::lock_guard lock{mutex_};
    return value_;
  }

  void replace(T value) {
    auto next = std::make_shared<const T>(std::move(value));
    const std::lock_guard lock{mutex_};
    value_.swap(next);  // The old value is destroyed after the lock is released, by its last owner.
  }

 private:
  mutable std::mutex mutex_;  // Held for a pointer copy. GCC 12's atomic<shared_ptr> locks too.
  std::shared_ptr<const T> value_;
};

}  // namespace postrider
