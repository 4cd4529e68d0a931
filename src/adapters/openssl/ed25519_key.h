// Ed25519 signatures, which a receiver can verify without being able to sign.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider {

/// Cheap to copy; copies share the immutable key. Any thread may sign.
class Ed25519Key {
 public:
  /// The seed is the first 32 bytes of the key, or the SHA-256 of a shorter key.
  explicit Ed25519Key(const Secret<std::string>& key);

  /// The signature of `prefix` followed by `body`, 64 raw bytes.
  [[nodiscard]] std::string sign(std::string_view prefix, std::string_view body) const;

  /// 32 raw bytes, for the receiver.
  [[nodiscard]] std::string public_key() const;

 private:
  struct Pair;
  std::shared_ptr<const Pair> pair_;
};

}  // namespace postrider
