// A token bucket over monotonic time: allows bursts of `burst` and never exceeds the average rate
// (P7).
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// `count` requests per `period`, with bursts of `burst`. A burst of zero counts as one, because
/// otherwise nothing could be sent. A period below one millisecond counts as one millisecond.
struct RateLimit {
  std::uint32_t count = 0;
  Millis period{1000};
  std::uint32_t burst = 1;

  bool operator==(const RateLimit&) const = default;
};

/// A plain value. Not thread-safe: the owner must use one thread or a lock.
class TokenBucket {
 public:
  /// Starts full.
  TokenBucket(const RateLimit& limit, MonoTime now);

  /// Takes one token if one is available.
  [[nodiscard]] bool try_take(MonoTime now);

  /// When `count` tokens will have been earned, ignoring the limit of the burst. Returns `now` if
  /// they are available already, MonoTime::max() if never.
  [[nodiscard]] MonoTime available_at(MonoTime now, std::uint32_t count = 1) const;

  [[nodiscard]] double tokens(MonoTime now) const;

  /// Applies a changed limit. Tokens above the new burst are lost; no tokens are added.
  void change(const RateLimit& limit, MonoTime now);

  /// Removes all tokens. For a caller that does not know how many were used before.
  void empty(MonoTime now);

  bool operator==(const TokenBucket&) const = default;

 private:
  [[nodiscard]] std::int64_t credit_at(MonoTime now) const;

  RateLimit limit_;
  // Integer arithmetic, so that the rate does not drift: each microsecond earns `count` credit, and
  // a token costs as much credit as the period has microseconds.
  std::int64_t credit_ = 0;
  MonoTime updated_;
};

}  // namespace postrider
