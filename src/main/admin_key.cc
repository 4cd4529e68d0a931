#include "main/admin_key.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/ids.h"

#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"
#include "api/resources/key_text.h"

namespace postrider {
namespace {

Uuid random_uuid() {
  Uuid uuid{};
  const std::string bytes = random_bytes(uuid.size());
  std::memcpy(uuid.data(), bytes.data(), uuid.size());
  return uuid;
}

/// The id of the key from the environment. It is constant, so that a new key replaces the old one.
KeyId environment_id() {
  Uuid uuid{};
  const std::string digest = sha256("POSTRIDER_ADMIN_KEY");
  std::memcpy(uuid.data(), digest.data(), uuid.size());
  return KeyId{uuid};
}

ApiKey key_record(const Secret<std::string>& key, KeyId id, WallTime now) {
  return {.id = id,
          .name = id == environment_id() ? "POSTRIDER_ADMIN_KEY" : "admin",
          .sha256 = sha256(key.reveal()),
          .scope = KeyScope::admin,
          .created_at = now};
}

constexpr Millis first_link_life = std::chrono::hours{1};
constexpr Millis first_session_life = std::chrono::hours{12};

SignInLink first_link(const Secret<std::string>& token, const ApiKey& key, WallTime now) {
  return {.sha256 = sha256(token.reveal()),
          .tenant_id = {},
          .session = first_session_life,
          .expires_at = now + first_link_life,
          .scope = KeyScope::admin,
          .created_by = key.id};
}

}  // namespace

AdminKey choose_admin_key(const std::optional<Secret<std::string>>& given,
                          const std::vector<ApiKey>& known, WallTime now) {
  if (given) {
    const ApiKey record = key_record(*given, environment_id(), now);
    const bool stored = std::ranges::any_of(known, [&](const ApiKey& key) {
      return key.id == record.id && constant_time_equal(key.sha256, record.sha256);
    });
    return {.to_store = stored ? std::nullopt : std::optional{record}, .to_show = std::nullopt};
  }
  if (!known.empty()) {
    return {};
  }
  const Secret<std::string> generated = api::make_key_text(openssl_crypto(), api::key_prefix);
  const ApiKey record = key_record(generated, KeyId{random_uuid()}, now);
  const Secret<std::string> token = api::make_key_text(openssl_crypto(), api::sign_in_prefix);
  return {.to_store = record,
          .to_show = generated,
          .link = first_link(token, record, now),
          .link_token = token};
}

}  // namespace postrider
