// HMAC-SHA256 with a precomputed key schedule: signing duplicates a keyed context.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider {

/// Cheap to copy; copies share the immutable keyed context. Any thread may sign.
class HmacKey {
 public:
  /// Accepts any length (RFC 2104). parse_secret limits the length of a webhook's secret.
  explicit HmacKey(const Secret<std::string>& key);

  /// The signature of `prefix` followed by `body`, 32 raw bytes.
  [[nodiscard]] std::string sign(std::string_view prefix, std::string_view body) const;

 private:
  struct Keyed;
  std::shared_ptr<const Keyed> keyed_;
};

}  // namespace postrider
