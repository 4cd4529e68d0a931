// A token bucket over monotonic time: at most `burst` at once and `rate` on average, never more (P7).
#pragma once

#include <cstdint>

#include "core/time.h"

namespace postrider {

/// `count` requests per `period`, with bursts of `burst`.
struct RateLimit {
  std::uint32_t count = 0;
  Millis period{1000};
  std::uint32_t burst = 1;

  bool operator==(const RateLimit&) const = default;
};

/// A plain value; the lane that owns it is on one thread.
class TokenBucket {
 public:
  /// Starts full.
  TokenBucket(const RateLimit& limit, MonoTime now);

  /// Takes one token if there is one.
  [[nodiscard]] bool try_take(MonoTime now);

  /// When the next token will be there; `now` when one is there already.
  [[nodiscard]] MonoTime available_at(MonoTime now) const;

  [[nodiscard]] double tokens(MonoTime now) const;

  /// Takes over a changed limit; tokens above the new burst are lost, none are given.
  void change(const RateLimit& limit, MonoTime now);

  bool operator==(const TokenBucket&) const = default;

 private:
  RateLimit limit_;
  // Integer arithmetic, so that a long run does not drift: credit is in microseconds of waiting,
  // and a token costs period/count of them.
  std::int64_t credit_ = 0;
  MonoTime updated_;
};

}  // namespace postrider
