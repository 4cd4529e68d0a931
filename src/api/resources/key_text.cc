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

bool is_key_text(std::string_view text, std::string_view prefix) {
  constexpr std::size_t half = 26;  // The length of to_base32.
  if (!text.starts_with(prefix) || text.size() != prefix.size() + 2 * half) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return parse_base32(text.substr(0, half)) && parse_base32(text.substr(half));
}

Secret<std::string> make_key_text(const Crypto& crypto, std::string_view prefix) {
  return Secret{std::string{prefix} + random_text(crypto) + random_text(crypto)};
}

}  // namespace postrider::api
