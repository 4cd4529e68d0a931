// A token bucket shared by several workers. A worker that finds it empty gets a turn in a queue:
// the k-th turn waits for the k-th next token, and no worker takes the token of an earlier turn.
//
// Not thread-safe: SharedAllowance guards it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/policy/token_bucket.h"

namespace postrider {

class SharedTokenBucket {
 public:
  SharedTokenBucket(const RateLimit& limit, MonoTime now) : bucket_(limit, now) {}

  /// Returns when the worker may take a token: `now`, or the time of its turn. The turn lapses if
  /// the worker does not ask again soon after that time.
  [[nodiscard]] MonoTime ask(std::size_t worker, MonoTime now);
  /// After `ask` returned `now`: another limit makes the worker wait. It keeps its turn.
  void postpone(std::size_t worker, MonoTime until);
  /// After `ask` returned `now`.
  void take(std::size_t worker, MonoTime now);

  /// See TokenBucket::change. The turns are kept. Their workers must ask again to learn when they
  /// come now.
  void change(const RateLimit& limit, MonoTime now);
  [[nodiscard]] std::vector<std::size_t> workers_waiting() const;

  /// Returns when there is a token that is not reserved for a turn.
  [[nodiscard]] MonoTime free_at(MonoTime now) const;

 private:
  struct Turn {
    std::size_t worker = 0;
    MonoTime at;
  };

  [[nodiscard]] std::vector<Turn>::iterator turn_of(std::size_t worker);

  TokenBucket bucket_;
  std::vector<Turn> turns_;  // First come, first served. At most one per worker.
};

}  // namespace postrider
