#include "main/admin_key.h"

#include <algorithm>
#include <cstring>

#include "core/ids.h"

#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

Uuid random_uuid() {
  Uuid uuid{};
  const std::string bytes = random_bytes(uuid.size());
  std::memcpy(uuid.data(), bytes.data(), uuid.size());
  return uuid;
}

ApiKey key_record(const Secret<std::string>& key, WallTime now) {
  return {.id = KeyId{random_uuid()},
          .name = "admin",
          .sha256 = sha256(key.reveal()),
          .scope = KeyScope::admin,
          .created_at = now};
}

}  // namespace

AdminKey choose_admin_key(const std::optional<Secret<std::string>>& given,
                          const std::vector<ApiKey>& known, WallTime now) {
  if (given) {
    const ApiKey record = key_record(*given, now);
    const bool stored = std::ranges::any_of(
        known, [&](const ApiKey& key) { return constant_time_equal(key.sha256, record.sha256); });
    return {.to_store = stored ? std::nullopt : std::optional{record}, .to_show = std::nullopt};
  }
  if (!known.empty()) {
    return {};
  }
  // 256 random bits: too many to guess, so a plain hash is enough to keep it.
  const Secret<std::string> made{"prk_" + to_base32(random_uuid()) + to_base32(random_uuid())};
  return {.to_store = key_record(made, now), .to_show = made};
}

}  // namespace postrider
