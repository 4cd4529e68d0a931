#include "adapters/openssl/digest.h"

#include <limits>
#include <memory>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr std::size_t sha256_bytes = 32;

struct FreeDigest {
  void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
};

// Fetched once, because looking up an algorithm by name takes longer than hashing a small text.
const EVP_MD* sha256_digest() {
  static const std::unique_ptr<EVP_MD, FreeDigest> digest{EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  POSTRIDER_ASSERT(digest != nullptr);
  return digest.get();
}

}  // namespace

std::string sha256(std::string_view text) {
  std::string hash(sha256_bytes, '\0');
  unsigned int length = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(hash.data()), &length,
                 sha256_digest(), nullptr);
  POSTRIDER_ASSERT(done == 1 && length == sha256_bytes);
  return hash;
}

std::string random_bytes(std::size_t count) {
  POSTRIDER_ASSERT(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  std::string bytes(count, '\0');
  const int done =
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count));
  POSTRIDER_ASSERT(done == 1);
  return bytes;
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace postrider
