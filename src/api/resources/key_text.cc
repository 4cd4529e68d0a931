#include "api/resources/key_text.h"

#include <cstring>

#include "core/base/ids.h"

#include "adapters/openssl/digest.h"

namespace postrider::api {
namespace {

std::string random_text() {
  Uuid uuid{};
  const std::string bytes = random_bytes(uuid.size());
  std::memcpy(uuid.data(), bytes.data(), uuid.size());
  return to_base32(uuid);
}

}  // namespace

Secret<std::string> make_key_text(std::string_view prefix) {
  return Secret{std::string{prefix} + random_text() + random_text()};
}

}  // namespace postrider::api
