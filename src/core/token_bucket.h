// A token bucket over monotonic time: at most `burst` at once and `rate` on average, never more
// (P7).
#pragma once

#include <cstdint>
#include <optional>

#include "core/time.h"

namespace postrider {

/// `count` requests per `period`, with bursts of `burst`. A burst of zero counts as one, or nothing
/// would ever be sent; a period below a millisecond counts as one.
struct RateLimit {
  std::uint32_t count = 0;
  Millis period{1000};
  std::uint32_t burst = 1;

  bool operator==(const RateLimit&) const = default;
};

/// What each of `parts` buckets may let through so that together they keep to `limit`. A burst
/// smaller than the parts cannot be divided: each of them may still start one at a time.
[[nodiscard]] std::optional<RateLimit> share_of(const std::optional<RateLimit>& limit,
                                                std::uint32_t parts);

/// A plain value; the lane that owns it is on one thread.
class TokenBucket {
 public:
  /// Starts full.
  TokenBucket(const RateLimit& limit, MonoTime now);

  /// Takes one token if there is one.
  [[nodiscard]] bool try_take(MonoTime now);

  /// When the next token will be there; `now` when one is there already, MonoTime::max() when none
  /// will ever be.
  [[nodiscard]] MonoTime available_at(MonoTime now) const;

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
