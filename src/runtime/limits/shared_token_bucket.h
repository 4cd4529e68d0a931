// A token bucket that several workers share. Whoever finds it empty gets a turn: the k-th in line
// comes back when the k-th token does, and nobody takes a token that an earlier turn is for.
//
// Has no lock: SharedAllowance guards it.
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

  /// When the worker may take a token: `now`, or its turn, which is kept for it until a little
  /// later.
  [[nodiscard]] MonoTime ask(std::size_t worker, MonoTime now);
  /// It was told `now`, but something else makes it wait: it keeps its turn until then.
  void postpone(std::size_t worker, MonoTime until);
  /// It was told `now`.
  void take(std::size_t worker, MonoTime now);

  /// When there is a token that nobody in line waits for.
  [[nodiscard]] MonoTime free_at(MonoTime now) const;

 private:
  struct Turn {
    std::size_t worker = 0;
    MonoTime at;
  };

  [[nodiscard]] std::vector<Turn>::iterator turn_of(std::size_t worker);

  TokenBucket bucket_;
  std::vector<Turn> line_;  // First come, first served. At most one of each worker.
};

}  // namespace postrider
