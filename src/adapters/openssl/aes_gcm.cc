#include "adapters/openssl/aes_gcm.h"

#include <memory>

#include <openssl/evp.h>

#include "core/base/assert.h"

#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

enum class Direction : int { open = 0, seal = 1 };

/// Returns a context that is ready for the text. The calls fail only if memory is exhausted.
Context begin(Direction direction, std::string_view key, std::string_view nonce,
              std::string_view bound) {
  POSTRIDER_ASSERT(key.size() == aes_key_bytes && nonce.size() == nonce_bytes);
  Context context{EVP_CIPHER_CTX_new()};
  POSTRIDER_ASSERT(context != nullptr);
  POSTRIDER_ASSERT(EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                                     bytes_of(nonce), static_cast<int>(direction)) == 1);
  int length = 0;
  POSTRIDER_ASSERT(EVP_CipherUpdate(context.get(), nullptr, &length, bytes_of(bound),
                                    static_cast<int>(bound.size())) == 1);
  return context;
}

std::string update(EVP_CIPHER_CTX* context, std::string_view text) {
  std::string out(text.size(), '\0');
  int length = 0;
  POSTRIDER_ASSERT(EVP_CipherUpdate(context, bytes_of(out), &length, bytes_of(text),
                                    static_cast<int>(text.size())) == 1);
  POSTRIDER_ASSERT(static_cast<std::size_t>(length) == text.size());  // GCM does not buffer.
  return out;
}

}  // namespace

std::string aes_seal(std::string_view key, std::string_view plain, std::string_view bound) {
  const std::string nonce = random_bytes(nonce_bytes);
  const Context context = begin(Direction::seal, key, nonce, bound);
  const std::string sealed = update(context.get(), plain);
  std::string tag(tag_bytes, '\0');
  int length = 0;
  POSTRIDER_ASSERT(EVP_CipherFinal_ex(context.get(), bytes_of(tag), &length) == 1 && length == 0);
  POSTRIDER_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG,
                                       static_cast<int>(tag_bytes), tag.data()) == 1);
  return nonce + sealed + tag;
}

std::optional<std::string> aes_open(std::string_view key, std::string_view sealed,
                                    std::string_view bound) {
  if (sealed.size() < aes_overhead_bytes) {
    return std::nullopt;
  }
  const std::string_view nonce = sealed.substr(0, nonce_bytes);
  std::string tag{sealed.substr(sealed.size() - tag_bytes)};
  const Context context = begin(Direction::open, key, nonce, bound);
  std::string plain =
      update(context.get(), sealed.substr(nonce_bytes, sealed.size() - aes_overhead_bytes));
  POSTRIDER_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG,
                                       static_cast<int>(tag_bytes), tag.data()) == 1);
  int length = 0;
  unsigned char nothing = 0;
  if (EVP_CipherFinal_ex(context.get(), &nothing, &length) != 1) {
    return std::nullopt;
  }
  return plain;
}

}  // namespace postrider
