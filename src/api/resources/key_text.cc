#include "api/resources/key_text.h"

#include <cstring>

#include "core/base/ids.h"

namespace postrider::api {
namespace {

std::string random_text(const Crypto& crypto) {
  Uuid uuid{};
  const std::string bytes = crypto.random_bytes(uuid.size());
  std::memcpy(uuid.data(), bytes.data(), uuid.size());
  return to_base32(uuid);
}

}  // namespace

Secret<std::string> make_key_text(const Crypto& crypto, std::string_view prefix) {
  return Secret{std::string{prefix} + random_text(crypto) + random_text(crypto)};
}

}  // namespace postrider::api
