#include "core/policy/token_bucket.h"

#include <algorithm>
#include <limits>

namespace postrider {
namespace {

constexpr std::int64_t credit_max = std::numeric_limits<std::int64_t>::max();

/// The credit that a token costs. Each microsecond earns `count` credit, so nothing is rounded.
std::int64_t cost(const RateLimit& limit) {
  const std::int64_t period_ms =
      std::clamp<std::int64_t>(limit.period.count(), 1, credit_max / 1000);
  return period_ms * 1000;
}

/// The credit of a full bucket. A burst whose credit would overflow is reduced, which still
/// respects the limit.
std::int64_t capacity(const RateLimit& limit) {
  const std::int64_t burst = std::max<std::int64_t>(limit.burst, 1);
  return std::min(burst, credit_max / cost(limit)) * cost(limit);
}

}  // namespace

TokenBucket::TokenBucket(const RateLimit& limit, MonoTime now)
    : limit_(limit), credit_(capacity(limit)), updated_(now) {}

std::int64_t TokenBucket::credit_at(MonoTime now) const {
  if (now <= updated_ || limit_.count == 0) {
    return credit_;
  }
  // Compares before multiplying, because a long idle time times a large count overflows.
  const std::int64_t elapsed = (now - updated_).count();
  const std::int64_t missing = capacity(limit_) - credit_;
  return elapsed > missing / limit_.count ? capacity(limit_) : credit_ + elapsed * limit_.count;
}

bool TokenBucket::try_take(MonoTime now) {
  credit_ = credit_at(now);
  updated_ = std::max(updated_, now);
  if (credit_ < cost(limit_)) {
    return false;
  }
  credit_ -= cost(limit_);
  return true;
}

MonoTime TokenBucket::available_at(MonoTime now, std::uint32_t count) const {
  const bool countable = count <= credit_max / cost(limit_);
  const std::int64_t missing = (countable ? count * cost(limit_) : credit_max) - credit_at(now);
  if (missing <= 0) {
    return now;
  }
  if (limit_.count == 0 || !countable) {
    return MonoTime::max();
  }
  const std::int64_t wait = (missing - 1) / limit_.count + 1;  // Rounded up.
  const MonoTime from = std::max(now, updated_);
  return Micros{wait} < MonoTime::max() - std::max(from, MonoTime{}) ? from + Micros{wait}
                                                                     : MonoTime::max();
}

double TokenBucket::tokens(MonoTime now) const {
  return static_cast<double>(credit_at(now)) / static_cast<double>(cost(limit_));
}

void TokenBucket::change(const RateLimit& limit, MonoTime now) {
  credit_ = credit_at(now);
  updated_ = std::max(updated_, now);
  if (cost(limit) != cost(limit_)) {
    // Keeps whole tokens only; a fraction of a token is dropped rather than rounded up.
    const std::int64_t tokens = credit_ / cost(limit_);
    credit_ = std::min(tokens, capacity(limit) / cost(limit)) * cost(limit);
  }
  credit_ = std::min(credit_, capacity(limit));
  limit_ = limit;
}

void TokenBucket::empty(MonoTime now) {
  credit_ = 0;
  updated_ = std::max(updated_, now);
}

}  // namespace postrider
