#include "api/resources/request_limiter.h"

namespace postrider::api {
namespace {

// Bounds the memory to about 2 MB, even if an attacker uses many addresses.
constexpr std::size_t clients_max = 10'000;

}  // namespace

std::optional<Micros> RequestLimiter::take(const std::string& client, const RateLimit& limit,
                                           MonoTime now) {
  const std::lock_guard lock{mutex_};
  auto found = buckets_.find(client);
  if (found == buckets_.end()) {
    make_room(now);
    found = buckets_.emplace(client, Bucket{limit, TokenBucket{limit, now}}).first;
  }
  Bucket& bucket = found->second;
  if (bucket.limit != limit) {
    bucket.limit = limit;
    bucket.tokens.change(limit, now);
  }
  if (bucket.tokens.try_take(now)) {
    return std::nullopt;
  }
  return bucket.tokens.available_at(now) - now;
}

bool RequestLimiter::has_token(const std::string& client, const RateLimit& limit, MonoTime now) {
  const std::lock_guard lock{mutex_};
  const auto found = buckets_.find(client);
  // A changed limit applies from the next take().
  return found == buckets_.end() || found->second.limit != limit ||
         found->second.tokens.available_at(now) <= now;
}

/// Removes full buckets: they equal new ones. If none is full, removes all: a few requests too many
/// are better than refusing a client because of others.
void RequestLimiter::make_room(MonoTime now) {
  if (buckets_.size() < clients_max) {
    return;
  }
  std::erase_if(buckets_, [now](const auto& each) {
    return each.second.tokens.tokens(now) >= static_cast<double>(each.second.limit.burst);
  });
  if (buckets_.size() >= clients_max) {
    buckets_.clear();
  }
}

}  // namespace postrider::api
