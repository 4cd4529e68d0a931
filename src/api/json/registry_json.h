// API keys, tenants and their limits as JSON.
#pragma once

#include <string_view>

#include "ports/registry.h"

#include "api/json/json_writer.h"
#include "runtime/admin/access_snapshot.h"

namespace postrider::api {

[[nodiscard]] std::string_view to_string(KeyScope scope);

/// Never the key itself nor its hash. The object stays open for what else is to be said.
void write_api_key(JsonWriter& writer, const AccessKey& key);

void write_limits(JsonWriter& writer, const TenantLimits& limits);
void write_registered(JsonWriter& writer, const RegisteredTenant& tenant);

}  // namespace postrider::api
