// HMAC-SHA256 with the key schedule done once: signing duplicates a context that is keyed already.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider {

/// Cheap to copy; copies share the keyed context, which signing does not change, so any thread may
/// sign.
class HmacKey {
 public:
  /// Any length, as RFC 2104 allows; what a webhook may use is parse_secret's decision.
  explicit HmacKey(const Secret<std::string>& key);

  /// 32 raw bytes over `prefix` followed by `body`.
  [[nodiscard]] std::string sign(std::string_view prefix, std::string_view body) const;

 private:
  struct Keyed;
  std::shared_ptr<const Keyed> keyed_;
};

}  // namespace postrider
