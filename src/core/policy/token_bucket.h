// A token bucket over monotonic time: at most `burst` at once and `rate` on average, never more
// (P7).
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// `count` requests per `period`, with bursts of `burst`. A burst of zero counts as one, or nothing
/// would ever be sent; a period below a millisecond counts as one.
struct RateLimit {
  std::uint32_t count = 0;
  Millis period{1000};
  std::uint32_t burst = 1;

  bool operator==(const RateLimit&) const = default;
};

/// A plain value, without a lock: its owner is on one thread or has one.
class TokenBucket {
 public:
  /// Starts full.
  TokenBucket(const RateLimit& limit, MonoTime now);

  /// Takes one token if there is one.
  [[nodiscard]] bool try_take(MonoTime now);

  /// When so many tokens will have come that were not lost to a full bucket; `now` when they are
  /// there already, MonoTime::max() when they will never be.
  [[nodiscard]] MonoTime available_at(MonoTime now, std::uint32_t count = 1) const;

  [[nodiscard]] double tokens(MonoTime now) const;

  /// Takes over a changed limit; tokens above the new burst are lost, none are given.
  void change(const RateLimit& limit, MonoTime now);

  /// Loses all tokens: for who does not know how many were taken before.
  void empty(MonoTime now);

  bool operator==(const TokenBucket&) const = default;

 private:
  [[nodiscard]] std::int64_t credit_at(MonoTime now) const;

  RateLimit limit_;
  // Integer arithmetic, so that a long run does not drift: a microsecond earns `count` credit, and
  // a token costs as much credit as the period has microseconds.
  std::int64_t credit_ = 0;
  MonoTime updated_;
};

}  // namespace postrider
