// The table below says who may call what.
//
//   Access::open       anyone, without a key
//   Access::read       keys of scope read and admin
//   Access::publish    keys of scope publish and admin
//   Access::admin      keys of scope admin
//   Tenants::served    keys of one tenant as well. Their Context shows that tenant's part of the
//                      world and nothing else (tenant_service.h); a resource that keeps to its
//                      Context needs no code for tenancy. Without this word they are refused.
#include "api/routes.h"

#include <array>
#include <string>
#include <string_view>

#include "api/auth.h"
#include "api/context.h"
#include "api/resources.h"
#include "api/tenant_service.h"

namespace postrider::api {
namespace {

struct Entry {
  std::string_view method;
  std::string_view pattern;
  Access access;
  Resource resource;
  Tenants tenants = Tenants::shut_out;
};

constexpr std::array entries = {
    Entry{"POST", "/v1/webhooks", Access::admin, create_webhook, Tenants::served},
    Entry{"GET", "/v1/webhooks", Access::read, list_webhooks, Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}", Access::read, get_webhook, Tenants::served},
    Entry{"PUT", "/v1/webhooks/{id}", Access::admin, update_webhook, Tenants::served},
    Entry{"PATCH", "/v1/webhooks/{id}", Access::admin, update_webhook, Tenants::served},
    Entry{"DELETE", "/v1/webhooks/{id}", Access::admin, delete_webhook, Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/health", Access::read, get_webhook_health, Tenants::served},
    Entry{"PATCH", "/v1/webhooks/{id}/circuit-breaker", Access::admin, command_circuit,
          Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/pause", Access::admin, pause_webhook, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/resume", Access::admin, resume_webhook, Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/deliveries", Access::read, list_webhook_deliveries,
          Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/secret", Access::admin, get_webhook_secret, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/secret/rotate", Access::admin, rotate_webhook_secret,
          Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/test", Access::admin, test_webhook, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/verify", Access::admin, verify_webhook, Tenants::served},
    Entry{"GET", "/v1/alerts", Access::read, list_alerts, Tenants::served},
    Entry{"POST", "/v1/secrets/rotate-key", Access::admin, rotate_secrets_key},
    Entry{"POST", "/v1/webhooks/{id}/deliveries/{delivery_id}/retry", Access::admin,
          retry_webhook_delivery, Tenants::served},
    Entry{"POST", "/v1/events", Access::publish, publish_event, Tenants::served},
    Entry{"POST", "/v1/events/batch", Access::publish, publish_batch, Tenants::served},
    Entry{"GET", "/v1/events", Access::read, list_events, Tenants::served},
    Entry{"GET", "/v1/events/{id}", Access::read, get_event, Tenants::served},
    Entry{"GET", "/v1/deliveries", Access::read, list_deliveries, Tenants::served},
    Entry{"GET", "/v1/deliveries/{id}", Access::read, get_delivery, Tenants::served},
    Entry{"POST", "/v1/deliveries/{id}/retry", Access::admin, retry_delivery, Tenants::served},
    Entry{"POST", "/v1/deliveries/{id}/cancel", Access::admin, cancel_delivery, Tenants::served},
    Entry{"GET", "/v1/dlq", Access::read, list_dead_letters, Tenants::served},
    Entry{"POST", "/v1/dlq/{delivery_id}/retry", Access::admin, retry_dead_letter, Tenants::served},
    Entry{"GET", "/v1/tenants", Access::admin, list_tenants},
    Entry{"POST", "/v1/tenants", Access::admin, create_tenant},
    Entry{"GET", "/v1/tenants/{id}", Access::admin, get_tenant},
    Entry{"DELETE", "/v1/tenants/{id}", Access::admin, delete_tenant},
    Entry{"GET", "/v1/tenants/{id}/limits", Access::admin, get_tenant_limits},
    Entry{"PUT", "/v1/tenants/{id}/limits", Access::admin, put_tenant_limits},
    Entry{"GET", "/v1/api-keys", Access::admin, list_api_keys},
    Entry{"POST", "/v1/api-keys", Access::admin, create_api_key},
    Entry{"GET", "/v1/api-keys/{id}", Access::admin, get_api_key},
    Entry{"DELETE", "/v1/api-keys/{id}", Access::admin, delete_api_key},
    Entry{"POST", "/v1/portal-links", Access::admin, create_portal_link},
    Entry{"POST", "/v1/portal-sessions", Access::open, open_portal_session},
    Entry{"GET", "/v1/audit-log", Access::admin, list_audit_log},
    Entry{"GET", "/v1/audit-log/verify", Access::admin, verify_audit_log},
    Entry{"GET", "/healthz", Access::open, get_health},
    Entry{"GET", "/readyz", Access::open, get_readiness},
    Entry{"GET", "/", Access::open, get_status_page},
    Entry{"GET", "/status.css", Access::open, get_status_style},
    Entry{"GET", "/status.js", Access::open, get_status_script},
};

Awaitable<HttpResponse> answer(HttpResponse response) { co_return response; }

/// The context of one request: who calls, and what of the world that is for them.
Context context_for(const Context& everything, Caller caller) {
  Context mine = everything;
  mine.caller = std::move(caller);
  if (mine.caller.tenant_id) {
    mine.owned = make_tenant_service(*everything.service, *mine.caller.tenant_id);
    mine.service = mine.owned.get();
  }
  return mine;
}

void add(Router& router, const Context& context, const Entry& entry) {
  const auto guarded = [context, admission = Admission{entry.access, entry.tenants},
                        resource = entry.resource](HttpRequest request) -> Awaitable<HttpResponse> {
    Service& service = *context.service;
    auto admitted = authenticate(request, admission, *service.roster(), service.now().wall);
    if (!admitted) {
      return answer(std::move(admitted.error()));
    }
    if (admitted->key != nullptr) {
      service.note_key_use(*admitted->key);
    }
    return resource(context_for(context, std::move(admitted->caller)), std::move(request));
  };
  router.add(std::string{entry.method}, std::string{entry.pattern}, guarded);
}

std::vector<Entry> all_entries(const ApiOptions& options) {
  std::vector<Entry> all{entries.begin(), entries.end()};
  const Access metrics_access = options.open_metrics ? Access::open : Access::read;
  all.push_back({"GET", "/metrics", metrics_access, get_metrics});
  return all;
}

}  // namespace

std::vector<RouteEntry> route_table(const ApiOptions& options) {
  std::vector<RouteEntry> table;
  for (const Entry& entry : all_entries(options)) {
    table.push_back({entry.method, entry.pattern, {entry.access, entry.tenants}});
  }
  return table;
}

void add_routes(Router& router, Service& service, ApiOptions options) {
  const Context context{.service = &service,
                        .options = std::make_shared<const ApiOptions>(std::move(options))};
  for (const Entry& entry : all_entries(*context.options)) {
    add(router, context, entry);
  }
}

}  // namespace postrider::api
