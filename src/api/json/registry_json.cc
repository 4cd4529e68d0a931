#include "api/json/registry_json.h"

#include "core/base/assert.h"

#include "api/json/email_json.h"
#include "api/json/webhook_json.h"
#include "runtime/admin/api_key_use.h"

namespace postrider::api {

std::string_view to_string(KeyScope scope) {
  switch (scope) {
    case KeyScope::admin:
      return "admin";
    case KeyScope::publish:
      return "publish";
    case KeyScope::read:
      return "read";
    case KeyScope::tenant:
      return "tenant";
  }
  POSTRIDER_ASSERT(false);
  return {};
}

std::optional<std::string_view> role_of(const ApiKey& key) {
  return key.scope == KeyScope::tenant ? std::optional{to_string(key.role)} : std::nullopt;
}

void write_api_key(JsonWriter& writer, const AccessKey& key) {
  const ApiKey& api_key = key.key();
  writer.open_object();
  writer.member("id", api_key.id);
  writer.member("name", api_key.name);
  writer.member("scope", to_string(api_key.scope));
  write_tenant_id(writer, api_key.tenant_id);
  writer.member("role", role_of(api_key));
  writer.member("created_at", api_key.created_at);
  writer.member("expires_at", api_key.expires_at);
  writer.member("last_used_at", last_used_at(key));
}

void write_limits(JsonWriter& writer, const TenantLimits& limits) {
  writer.open_object();
  writer.member("webhooks_max", limits.webhooks_max);
  writer.member("events_per_minute", limits.events_per_minute);
  writer.member("timeout_ms_max", limits.timeout_ms_max);
  writer.member("max_in_flight_max", limits.max_in_flight_max);
  writer.close_object();
}

void write_registered_tenant(JsonWriter& writer, const RegisteredTenant& tenant) {
  writer.open_object();
  writer.member("id", tenant.id);
  writer.member("name", tenant.name);
  writer.member_raw("metadata", tenant.metadata);
  writer.member("pool", tenant.pool);
  writer.key("contacts");
  write_texts(writer, tenant.contacts);
  writer.key("limits");
  write_limits(writer, tenant.limits);
  writer.member("created_at", tenant.created_at);
  writer.member("suspended_at", tenant.suspended_at);
  writer.member("suspended_reason", tenant.suspended_reason);
  writer.close_object();
}

}  // namespace postrider::api
