// Limits the requests of a client: one token bucket per API key, and one per address for requests
// without a valid key, which slows down guessing of keys. Each server counts for itself. Any
// thread.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/time.h"
#include "core/policy/token_bucket.h"

namespace postrider::api {

class RequestLimiter {
 public:
  /// Takes a token and returns nullopt, or returns how long until there is one. `limit` may change
  /// between calls.
  [[nodiscard]] std::optional<Micros> take(const std::string& client, const RateLimit& limit,
                                           MonoTime now);
  /// Whether take() would take a token.
  [[nodiscard]] bool has_token(const std::string& client, const RateLimit& limit, MonoTime now);

 private:
  void make_room(MonoTime now);

  struct Bucket {
    RateLimit limit;
    TokenBucket tokens;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace postrider::api
