// Writes API keys, tenants and their limits as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "core/model/access.h"
#include "engine/admin/access_snapshot.h"

#include "api/json/json_writer.h"

namespace postrider::api {

[[nodiscard]] std::string_view to_string(KeyScope scope);

/// Only keys of scope `tenant` have a role.
[[nodiscard]] std::optional<std::string_view> role_of(const ApiKey& key);

/// Writes neither the key itself nor its hash. Leaves the object open for further members.
void write_api_key(JsonWriter& writer, const AccessKey& key);

void write_limits(JsonWriter& writer, const TenantLimits& limits);
void write_registered_tenant(JsonWriter& writer, const RegisteredTenant& tenant);

}  // namespace postrider::api
