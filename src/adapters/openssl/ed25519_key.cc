#include "adapters/openssl/ed25519_key.h"

#include <openssl/evp.h>

#include "core/base/assert.h"

#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

constexpr std::size_t seed_bytes = 32;
constexpr std::size_t public_key_bytes = 32;
constexpr std::size_t signature_bytes = 64;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

std::string seed_of(const std::string& key) {
  return key.size() >= seed_bytes ? key.substr(0, seed_bytes) : sha256(key);
}

}  // namespace

struct Ed25519Key::Pair {
  std::unique_ptr<EVP_PKEY, FreeKey> key;
};

Ed25519Key::Ed25519Key(const Secret<std::string>& key) {
  const std::string seed = seed_of(key.reveal());
  Pair pair{std::unique_ptr<EVP_PKEY, FreeKey>{EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(seed.data()),
      seed.size())}};
  POSTRIDER_ASSERT(pair.key != nullptr);
  pair_ = std::make_shared<const Pair>(std::move(pair));
}

std::string Ed25519Key::sign(std::string_view prefix, std::string_view body) const {
  // Ed25519 reads the message twice, so it must be contiguous.
  std::string message;
  message.reserve(prefix.size() + body.size());
  message += prefix;
  message += body;

  const std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
  POSTRIDER_ASSERT(context != nullptr);
  POSTRIDER_ASSERT(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair_->key.get()) ==
                   1);
  std::string signature(signature_bytes, '\0');
  std::size_t length = signature.size();
  const int done =
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                     reinterpret_cast<const unsigned char*>(message.data()), message.size());
  POSTRIDER_ASSERT(done == 1 && length == signature_bytes);
  return signature;
}

std::string Ed25519Key::public_key() const {
  std::string bytes(public_key_bytes, '\0');
  std::size_t length = bytes.size();
  const int done = EVP_PKEY_get_raw_public_key(
      pair_->key.get(), reinterpret_cast<unsigned char*>(bytes.data()), &length);
  POSTRIDER_ASSERT(done == 1 && length == public_key_bytes);
  return bytes;
}

}  // namespace postrider
