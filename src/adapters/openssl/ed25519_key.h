// Ed25519 signatures, so that a receiver can verify without being able to sign.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider {

/// Cheap to copy; copies share the key, which signing does not change, so any thread may sign.
class Ed25519Key {
 public:
  /// The seed is the key's first 32 bytes, or the SHA-256 of a key that is shorter.
  explicit Ed25519Key(const Secret<std::string>& key);

  /// 64 raw bytes over `prefix` followed by `body`.
  [[nodiscard]] std::string sign(std::string_view prefix, std::string_view body) const;

  /// 32 raw bytes, for the receiver.
  [[nodiscard]] std::string public_key() const;

 private:
  struct Pair;
  std::shared_ptr<const Pair> pair_;
};

}  // namespace postrider
