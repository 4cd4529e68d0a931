#include "api/routes.h"

#include <array>
#include <string>
#include <string_view>

#include "api/auth.h"
#include "api/context.h"
#include "api/resources.h"

namespace postrider::api {
namespace {

struct Entry {
  std::string_view method;
  std::string_view pattern;
  Access access;
  Resource resource;
};

constexpr std::array entries = {
    Entry{"POST", "/v1/webhooks", Access::admin, create_webhook},
    Entry{"GET", "/v1/webhooks", Access::read, list_webhooks},
    Entry{"GET", "/v1/webhooks/{id}", Access::read, get_webhook},
    Entry{"PUT", "/v1/webhooks/{id}", Access::admin, update_webhook},
    Entry{"PATCH", "/v1/webhooks/{id}", Access::admin, update_webhook},
    Entry{"DELETE", "/v1/webhooks/{id}", Access::admin, delete_webhook},
    Entry{"GET", "/v1/webhooks/{id}/health", Access::read, get_webhook_health},
    Entry{"PATCH", "/v1/webhooks/{id}/circuit-breaker", Access::admin, command_circuit},
    Entry{"POST", "/v1/webhooks/{id}/pause", Access::admin, pause_webhook},
    Entry{"POST", "/v1/webhooks/{id}/resume", Access::admin, resume_webhook},
    Entry{"GET", "/v1/webhooks/{id}/deliveries", Access::read, list_webhook_deliveries},
    Entry{"POST", "/v1/webhooks/{id}/deliveries/{delivery_id}/retry", Access::admin,
          retry_webhook_delivery},
    Entry{"POST", "/v1/events", Access::publish, publish_event},
    Entry{"POST", "/v1/events/batch", Access::publish, publish_batch},
    Entry{"GET", "/v1/events", Access::read, list_events},
    Entry{"GET", "/v1/events/{id}", Access::read, get_event},
    Entry{"POST", "/v1/event-types", Access::admin, create_event_type},
    Entry{"GET", "/v1/event-types", Access::read, list_event_types},
    Entry{"GET", "/v1/event-types/{name}", Access::read, get_event_type},
    Entry{"PUT", "/v1/event-types/{name}", Access::admin, update_event_type},
    Entry{"PATCH", "/v1/event-types/{name}", Access::admin, update_event_type},
    Entry{"DELETE", "/v1/event-types/{name}", Access::admin, delete_event_type},
    Entry{"GET", "/v1/deliveries", Access::read, list_deliveries},
    Entry{"GET", "/v1/deliveries/{id}", Access::read, get_delivery},
    Entry{"POST", "/v1/deliveries/{id}/retry", Access::admin, retry_delivery},
    Entry{"POST", "/v1/deliveries/{id}/cancel", Access::admin, cancel_delivery},
    Entry{"GET", "/v1/dlq", Access::read, list_dead_letters},
    Entry{"POST", "/v1/dlq/{delivery_id}/retry", Access::admin, retry_dead_letter},
    Entry{"GET", "/healthz", Access::open, get_health},
    Entry{"GET", "/readyz", Access::open, get_readiness},
    Entry{"GET", "/", Access::open, get_status_page},
    Entry{"GET", "/status.css", Access::open, get_status_style},
    Entry{"GET", "/status.js", Access::open, get_status_script},
};

Awaitable<HttpResponse> answer(HttpResponse response) { co_return response; }

void add(Router& router, const Context& context, const Entry& entry) {
  const auto guarded = [context, access = entry.access,
                        resource = entry.resource](HttpRequest request) -> Awaitable<HttpResponse> {
    auto caller = authenticate(request, access, *context.service->api_keys());
    if (!caller) {
      return answer(std::move(caller.error()));
    }
    Context mine = context;
    mine.caller = *std::move(caller);
    return resource(std::move(mine), std::move(request));
  };
  router.add(std::string{entry.method}, std::string{entry.pattern}, guarded);
}

}  // namespace

void add_routes(Router& router, Service& service, ApiOptions options) {
  const Access metrics_access = options.open_metrics ? Access::open : Access::read;
  const Context context{.service = &service,
                        .options = std::make_shared<const ApiOptions>(std::move(options))};
  for (const Entry& entry : entries) {
    add(router, context, entry);
  }
  add(router, context, {"GET", "/metrics", metrics_access, get_metrics});
}

}  // namespace postrider::api
