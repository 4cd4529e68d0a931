#include "adapters/openssl/openssl_crypto.h"

#include "adapters/openssl/digest.h"
#include "adapters/openssl/ed25519_key.h"

namespace postrider {
namespace {

class OpensslCrypto final : public Crypto {
 public:
  [[nodiscard]] std::string sha256(std::string_view text) const override {
    return postrider::sha256(text);
  }

  [[nodiscard]] std::string random_bytes(std::size_t count) const override {
    return postrider::random_bytes(count);
  }

  [[nodiscard]] bool constant_time_equal(std::string_view a, std::string_view b) const override {
    return postrider::constant_time_equal(a, b);
  }

  [[nodiscard]] std::string ed25519_public_key(const Secret<std::string>& secret) const override {
    return Ed25519Key{secret}.public_key();
  }
};

}  // namespace

const Crypto& openssl_crypto() {
  static const OpensslCrypto crypto;
  return crypto;
}

}  // namespace postrider
