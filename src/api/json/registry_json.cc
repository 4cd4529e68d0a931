#include "api/json/registry_json.h"

#include "core/base/assert.h"

#include "api/json/webhook_json.h"

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

void write_api_key(JsonWriter& writer, const AccessKey& key) {
  const ApiKey& known = key.key();
  writer.open_object();
  writer.member("id", known.id);
  writer.member("name", known.name);
  writer.member("scope", to_string(known.scope));
  write_tenant(writer, known.tenant_id);
  writer.member("portal_session", known.portal_session);
  writer.member("created_at", known.created_at);
  writer.member("expires_at", known.expires_at);
  writer.member("last_used_at", key.last_used_at());
}

void write_limits(JsonWriter& writer, const TenantLimits& limits) {
  writer.open_object();
  writer.member("webhooks_max", limits.webhooks_max);
  writer.member("events_per_minute", limits.events_per_minute);
  writer.close_object();
}

void write_registered(JsonWriter& writer, const RegisteredTenant& tenant) {
  writer.open_object();
  writer.member("id", tenant.id);
  writer.member("name", tenant.name);
  writer.member_raw("metadata", tenant.metadata);
  writer.member("pool", tenant.pool);
  writer.key("limits");
  write_limits(writer, tenant.limits);
  writer.member("created_at", tenant.created_at);
  writer.close_object();
}

}  // namespace postrider::api
