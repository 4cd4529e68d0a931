// The cryptographic functions that other layers need. Implemented by adapters/openssl; main passes
// it in. Implementations are stateless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider {

/// Any thread.
class Crypto {
 public:
  virtual ~Crypto() = default;

  /// Returns 32 raw bytes.
  [[nodiscard]] virtual std::string sha256(std::string_view text) const = 0;

  /// Returns bytes fit for keys. Stops the process if there is no entropy.
  [[nodiscard]] virtual std::string random_bytes(std::size_t count) const = 0;

  /// The time it takes depends on the lengths only. Texts of different length are different.
  [[nodiscard]] virtual bool constant_time_equal(std::string_view a, std::string_view b) const = 0;

  /// Returns the 32 raw bytes of the public key that belongs to a webhook's Ed25519 secret.
  [[nodiscard]] virtual std::string ed25519_public_key(const Secret<std::string>& secret) const = 0;

 protected:
  Crypto() = default;
  Crypto(const Crypto&) = default;
  Crypto& operator=(const Crypto&) = default;
};

}  // namespace postrider
