// The table below says who may call what.
//
//   Access::open       anyone, without a key
//   Access::session    any session, by its cookie
//   Access::read       keys of scope read and admin
//   Access::publish    keys of scope publish and admin
//   Access::admin      keys of scope admin
//   Tenants::served    keys of one tenant as well. Their Context reaches that tenant's data only
//                      (api/tenancy/tenant_service.h), so a handler needs no code for tenancy.
//                      Keys with role viewer are served only with Access::read. Without this word
//                      all such keys are refused.
//   ReplayRule         the request is carried out once per Idempotency-Key; the rule says how a
//                      repeated request is answered (idempotent_request.h).
#include "api/resources/routes.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "api/resources/guard.h"
#include "api/resources/resources.h"
#include "api/resources/shared_answer.h"
#include "api/ui/dashboard_routes.h"

namespace postrider::api {
namespace {

constexpr ReplayRule as_webhook{201, get_webhook};
constexpr ReplayRule as_event_type{201, get_event_type};
constexpr ReplayRule as_tenant{201, get_tenant};
constexpr ReplayRule as_same_tenant{200, get_tenant};
constexpr ReplayRule as_api_key{201, get_api_key};
constexpr ReplayRule as_operation{202, get_operation};
constexpr ReplayRule as_rotation{200, show_rotation};
constexpr ReplayRule as_test{200, show_test};
constexpr ReplayRule as_channel{201, get_channel};
constexpr ReplayRule as_channel_test{200, show_channel_test};
constexpr ReplayRule not_shown{201, nullptr};

constexpr std::array entries = {
    Entry{"POST", "/v1/webhooks", Access::admin, create_webhook, Tenants::served, as_webhook},
    Entry{"GET", "/v1/webhooks", Access::read, list_webhooks, Tenants::served},
    Entry{"POST", "/v1/webhooks/preview", Access::admin, preview_webhook, Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}", Access::read, get_webhook, Tenants::served},
    Entry{"PUT", "/v1/webhooks/{id}", Access::admin, update_webhook, Tenants::served},
    Entry{"PATCH", "/v1/webhooks/{id}", Access::admin, update_webhook, Tenants::served},
    Entry{"DELETE", "/v1/webhooks/{id}", Access::admin, delete_webhook, Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/health", Access::read, get_webhook_health, Tenants::served},
    Entry{"PATCH", "/v1/webhooks/{id}/circuit-breaker", Access::admin, command_circuit,
          Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/circuit-breaker/history", Access::read, list_open_periods,
          Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/pause", Access::admin, pause_webhook, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/resume", Access::admin, resume_webhook, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/replay", Access::admin, replay_webhook, Tenants::served,
          as_operation},
    Entry{"GET", "/v1/webhooks/{id}/deliveries", Access::read, list_webhook_deliveries,
          Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/attempts", Access::read, list_webhook_attempts,
          Tenants::served},
    Entry{"GET", "/v1/webhooks/{id}/secret", Access::admin, get_webhook_secret, Tenants::served},
    Entry{"POST", "/v1/webhooks/{id}/secret/rotate", Access::admin, rotate_webhook_secret,
          Tenants::served, as_rotation},
    Entry{"POST", "/v1/webhooks/{id}/test", Access::admin, test_webhook, Tenants::served, as_test},
    Entry{"POST", "/v1/webhooks/{id}/verify", Access::admin, verify_webhook, Tenants::served},
    Entry{"GET", "/v1/alerts", Access::read, list_alerts, Tenants::served},
    Entry{"GET", "/v1/notification-channels", Access::read, list_channels, Tenants::served},
    Entry{"POST", "/v1/notification-channels", Access::admin, create_channel, Tenants::served,
          as_channel},
    Entry{"GET", "/v1/notification-channels/{id}", Access::read, get_channel, Tenants::served},
    Entry{"PATCH", "/v1/notification-channels/{id}", Access::admin, update_channel,
          Tenants::served},
    Entry{"DELETE", "/v1/notification-channels/{id}", Access::admin, delete_channel,
          Tenants::served},
    Entry{"POST", "/v1/notification-channels/{id}/test", Access::admin, test_channel,
          Tenants::served, as_channel_test},
    Entry{"GET", "/v1/notification-channels/{id}/notifications", Access::read, list_notifications,
          Tenants::served},
    Entry{"POST", "/v1/secrets/rotate-key", Access::admin, rotate_secrets_key},
    Entry{"POST", "/v1/webhooks/{id}/deliveries/{delivery_id}/retry", Access::admin,
          retry_webhook_delivery, Tenants::served},
    Entry{"POST", "/v1/events", Access::publish, publish_event, Tenants::served},
    Entry{"POST", "/v1/events/batch", Access::publish, publish_batch, Tenants::served},
    Entry{"GET", "/v1/events", Access::read, list_events, Tenants::served},
    Entry{"GET", "/v1/events/{id}", Access::read, get_event, Tenants::served},
    Entry{"POST", "/v1/event-types", Access::admin, create_event_type, Tenants::shut_out,
          as_event_type},
    Entry{"GET", "/v1/event-types", Access::read, list_event_types, Tenants::served},
    Entry{"GET", "/v1/event-types/{name}", Access::read, get_event_type, Tenants::served},
    Entry{"PUT", "/v1/event-types/{name}", Access::admin, update_event_type},
    Entry{"PATCH", "/v1/event-types/{name}", Access::admin, update_event_type},
    Entry{"DELETE", "/v1/event-types/{name}", Access::admin, delete_event_type},
    Entry{"GET", "/v1/attempts", Access::read, list_attempts, Tenants::served},
    Entry{"GET", "/v1/deliveries", Access::read, list_deliveries, Tenants::served},
    Entry{"GET", "/v1/deliveries/{id}", Access::read, get_delivery, Tenants::served},
    Entry{"POST", "/v1/deliveries/{id}/retry", Access::admin, retry_delivery, Tenants::served},
    Entry{"POST", "/v1/deliveries/{id}/cancel", Access::admin, cancel_delivery, Tenants::served},
    Entry{"GET", "/v1/dlq", Access::read, list_dead_letters, Tenants::served},
    Entry{"GET", "/v1/dlq/groups", Access::read, group_dead_letters, Tenants::served},
    Entry{"POST", "/v1/dlq/{delivery_id}/retry", Access::admin, retry_dead_letter, Tenants::served},
    Entry{"DELETE", "/v1/dlq", Access::admin, discard_dead_letters, Tenants::served, as_operation},
    Entry{"POST", "/v1/dlq/retry-batch", Access::admin, retry_dead_letters, Tenants::served,
          as_operation},
    Entry{"GET", "/v1/dlq/batch-operations/{id}", Access::read, get_operation, Tenants::served},
    Entry{"POST", "/v1/dlq/batch-operations/{id}/cancel", Access::admin, cancel_operation,
          Tenants::served},
    Entry{"GET", "/v1/operations", Access::read, list_operations, Tenants::served},
    Entry{"GET", "/v1/operations/{id}", Access::read, get_operation, Tenants::served},
    Entry{"POST", "/v1/operations/{id}/cancel", Access::admin, cancel_operation, Tenants::served},
    Entry{"GET", "/v1/tenants", Access::admin, list_tenants},
    Entry{"POST", "/v1/tenants", Access::admin, create_tenant, Tenants::shut_out, as_tenant},
    Entry{"GET", "/v1/tenants/{id}", Access::admin, get_tenant},
    Entry{"DELETE", "/v1/tenants/{id}", Access::admin, delete_tenant},
    Entry{"GET", "/v1/tenants/{id}/limits", Access::admin, get_tenant_limits},
    Entry{"PUT", "/v1/tenants/{id}/limits", Access::admin, put_tenant_limits},
    Entry{"PUT", "/v1/tenants/{id}/contacts", Access::admin, put_tenant_contacts},
    Entry{"POST", "/v1/tenants/{id}/suspend", Access::admin, suspend_tenant, Tenants::shut_out,
          as_same_tenant},
    Entry{"POST", "/v1/tenants/{id}/resume", Access::admin, resume_tenant, Tenants::shut_out,
          as_same_tenant},
    Entry{"GET", "/v1/api-keys", Access::admin, list_api_keys, Tenants::served},
    Entry{"POST", "/v1/api-keys", Access::admin, create_api_key, Tenants::served, as_api_key},
    Entry{"GET", "/v1/api-keys/{id}", Access::admin, get_api_key, Tenants::served},
    Entry{"DELETE", "/v1/api-keys/{id}", Access::admin, delete_api_key, Tenants::served},
    Entry{"POST", "/v1/portal-links", Access::admin, create_portal_link, Tenants::shut_out,
          not_shown},
    Entry{"POST", "/v1/sign-in-links", Access::admin, create_sign_in_link, Tenants::shut_out,
          not_shown},
    Entry{"POST", "/v1/sessions", Access::open, create_session},
    Entry{"GET", "/v1/sessions", Access::session, get_session, Tenants::served},
    Entry{"DELETE", "/v1/sessions", Access::session, delete_session, Tenants::served},
    Entry{"GET", "/v1/audit-log", Access::admin, list_audit_log},
    Entry{"GET", "/v1/audit-log/verify", Access::admin, verify_audit_log},
    Entry{"GET", "/v1/stats", Access::read, get_stats, Tenants::served},
    Entry{"GET", "/v1/stats/webhooks", Access::read, get_webhook_stats, Tenants::served},
    Entry{"GET", "/v1/stream", Access::read, stream_events, Tenants::served},
    Entry{"GET", "/v1/sources", Access::read, list_sources},
    Entry{"POST", "/v1/sources/{name}/pause", Access::admin, pause_source},
    Entry{"POST", "/v1/sources/{name}/resume", Access::admin, resume_source},
    Entry{"GET", "/v1/nodes", Access::read, list_nodes},
    Entry{"GET", "/v1/settings", Access::admin, list_settings},
    Entry{"GET", "/healthz", Access::open, get_health},
    Entry{"GET", "/readyz", Access::open, get_readiness},
    Entry{"GET", "/metrics", Access::read, get_metrics},  // Open to this machine: see Guard.
    Entry{"GET", "/openapi.json", Access::open, get_contract},
    Entry{"GET", "/", Access::open, get_dashboard},
};

// For paths without an entry. The pattern is its name in the access log and in metrics.
constexpr Entry dashboard_entry{"GET", "static", Access::open, get_dashboard};

constexpr std::array monitoring_entries = {
    Entry{"GET", "/healthz", Access::open, get_health},
    Entry{"GET", "/readyz", Access::open, get_readiness},
    Entry{"GET", "/metrics", Access::open, get_metrics},
};

/// Measures one request. The meter and the clock must outlive the request.
struct RequestTimer {
  RouteMeter* meter = nullptr;
  const Clock* clock = nullptr;
  MonoTime start;

  void end(std::uint16_t status) const { meter->record(status, clock->now().mono - start); }
};

/// The only place where a handler's problem becomes a response.
Awaitable<HttpResponse> render_reply(Awaitable<Reply> handling, RequestTimer timer) {
  Reply reply;
  try {
    reply = co_await std::move(handling);
  } catch (...) {
    timer.end(500);  // As the server answers it.
    throw;
  }
  timer.end(reply ? reply->status : reply.error().status);
  if (!reply) {
    co_return render(reply.error());
  }
  co_return *std::move(reply);
}

Awaitable<HttpResponse> render_problem(Problem problem) { co_return render(problem); }

Handler make_handler(const Guard& guard) {
  return [guard](HttpRequest request) -> Awaitable<HttpResponse> {
    const Moment now = guard.service->now();
    const RequestTimer timer{.meter = guard.meter, .clock = guard.service, .start = now.mono};
    if (guard.service->is_shared()) {
      return render_reply(answer_shared(guard, std::move(request)), timer);
    }
    Identity caller = guard.identify(request, now);
    if (!caller) {
      timer.end(caller.error().status);
      return render_problem(std::move(caller.error()));
    }
    return render_reply(handle(guard, guard.admit(*std::move(caller)), std::move(request)), timer);
  };
}

HeadCheck make_check(const Guard& guard) {
  return [guard](const HttpRequest& head) { return guard.check_head(head); };
}

void add(Router& router, const Guard& guard) {
  router.add(std::string{guard.entry->method}, std::string{guard.entry->pattern},
             make_handler(guard), make_check(guard));
}

}  // namespace

std::vector<RouteEntry> route_table() {
  std::vector<RouteEntry> table;
  table.reserve(entries.size());
  for (const Entry& entry : entries) {
    table.push_back({entry.method, entry.pattern, {entry.access, entry.tenants}});
  }
  return table;
}

std::shared_ptr<ApiControl> add_routes(Router& router, Service& service, ApiOptions options) {
  auto control = std::make_shared<ApiControl>(std::move(options));
  for (const Entry& entry : entries) {
    add(router, make_guard(service, control, entry));
  }
  const Guard dashboard = make_guard(service, control, dashboard_entry);
  router.set_fallback(
      [control](const HttpRequest& request) {
        return is_for_dashboard(*control->options(), request);
      },
      make_handler(dashboard), make_check(dashboard));
  return control;
}

void add_monitoring_routes(Router& router, Service& service,
                           const std::shared_ptr<ApiControl>& control) {
  for (const Entry& entry : monitoring_entries) {
    add(router, make_guard(service, control, entry));
  }
}

}  // namespace postrider::api
