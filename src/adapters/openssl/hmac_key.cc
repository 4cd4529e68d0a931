#include "adapters/openssl/hmac_key.h"

#include <array>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr std::size_t signature_bytes = 32;

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
};
struct FreeContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

// Fetched once, because looking up an algorithm by name takes longer than signing.
EVP_MAC* hmac() {
  static const std::unique_ptr<EVP_MAC, FreeMac> mac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
  POSTRIDER_ASSERT(mac != nullptr);
  return mac.get();
}

Context keyed_context(std::string_view key) {
  Context context{EVP_MAC_CTX_new(hmac())};
  POSTRIDER_ASSERT(context != nullptr);
  std::string digest = "SHA256";
  const std::array<OSSL_PARAM, 2> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_end()};
  // EVP_MAC_init treats a null pointer as "keep the current key", and there is none yet.
  const unsigned char nothing = 0;
  const auto* bytes = key.empty() ? &nothing : reinterpret_cast<const unsigned char*>(key.data());
  POSTRIDER_ASSERT(EVP_MAC_init(context.get(), bytes, key.size(), parameters.data()) == 1);
  return context;
}

// Fails only if memory is exhausted.
void update(EVP_MAC_CTX* context, std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  POSTRIDER_ASSERT(EVP_MAC_update(context, bytes, text.size()) == 1);
}

}  // namespace

struct HmacKey::Keyed {
  Context context;
};

HmacKey::HmacKey(const Secret<std::string>& key)
    : keyed_(std::make_shared<const Keyed>(Keyed{keyed_context(key.reveal())})) {}

std::string HmacKey::sign(std::string_view prefix, std::string_view body) const {
  const Context context{EVP_MAC_CTX_dup(keyed_->context.get())};
  POSTRIDER_ASSERT(context != nullptr);
  update(context.get(), prefix);
  update(context.get(), body);
  std::string signature(signature_bytes, '\0');
  std::size_t length = 0;
  const int done = EVP_MAC_final(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                 &length, signature.size());
  POSTRIDER_ASSERT(done == 1 && length == signature_bytes);
  return signature;
}

}  // namespace postrider
