#include "api/resources/guard.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/http/client_address.h"
#include "api/http/request_observer.h"
#include "api/json/event_json.h"
#include "api/json/json_body.h"
#include "api/resources/guarded_stream.h"
#include "api/resources/own_host.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/tenancy/tenant_service.h"
#include "api/ui/dashboard_routes.h"

namespace postrider::api {
namespace {

constexpr std::size_t token_body_bytes_max = 4ul * 1024;  // Such a request needs no key.

/// The largest body that a route can use.
std::size_t body_bytes_max(const Entry& entry, const ApiOptions& options) {
  if (entry.resource == publish_batch) {
    return options.body_bytes_max;
  }
  if (entry.resource == publish_event) {
    return options.data_bytes_max + small_body_bytes_max;
  }
  return entry.access == Access::open ? token_body_bytes_max : small_body_bytes_max;
}

Problem too_many(Micros wait) {
  using std::chrono::seconds;
  return {.status = 429,
          .code = "rate_limited",
          .title = "Too many requests",
          .detail = "This client has made too many requests. Retry after the time in Retry-After.",
          .errors = {},
          .retry_after = std::max(std::chrono::ceil<seconds>(wait), seconds{1})};
}

/// Probes and scrapers must work under load. A file of the dashboard costs no more than a 404, and
/// a browser loads many at once.
bool is_limited(const Entry& entry) {
  return entry.resource != get_health && entry.resource != get_readiness &&
         entry.resource != get_metrics && entry.resource != get_dashboard;
}

}  // namespace

Guard make_guard(Service& service, const std::shared_ptr<ApiControl>& control, const Entry& entry) {
  return {.service = &service,
          .control = control,
          .entry = &entry,
          .limited = is_limited(entry),
          .meter = &control->meters().of(entry.method, entry.pattern)};
}

std::string client_of(const KeyRef& key, const std::string& remote_ip) {
  return key ? acting_key(key->key()).to_string() : client_group(remote_ip);
}

/// Requests without a valid key are counted by address, the others by key.
Parsed<void> Guard::check_rate(const ApiOptions& options, const std::string& remote_ip,
                               const KeyRef& key, MonoTime now) const {
  const std::optional<RateLimit>& limit = key ? options.key_rate : options.address_rate;
  if (!limit || !limited) {
    return {};
  }
  if (const auto wait = control->limiter().take(client_of(key, remote_ip), *limit, now)) {
    return tl::make_unexpected(too_many(*wait));
  }
  return {};
}

/// What the observer of requests is told, whether or not the request is allowed.
void Guard::begin_note(const HttpRequest& request, RequestNote& note) const {
  note.route = entry->pattern;
  note.is_routine = !limited;
  if (const std::optional<TraceContext> trace = read_trace_headers(request)) {
    note.trace_id = trace->trace_id;
  }
}

/// A scraper on this machine needs no key, but a web page in a browser on this machine does.
Access Guard::access_for(const HttpRequest& request, const ApiOptions& options) const {
  const std::optional<IpAddress> client = IpAddress::parse(request.remote_ip);
  const bool is_open = entry->resource == get_metrics && options.open_metrics && client &&
                       is_loopback(*client) &&
                       is_loopback_host(request.header("host").value_or("localhost"));
  return is_open && !request.header("authorization") ? Access::open : entry->access;
}

Identity Guard::authenticate(const HttpRequest& request, const Moment& now) const {
  if (request.note != nullptr) {
    begin_note(request, *request.note);
  }
  const std::shared_ptr<const ApiOptions> options = control->options();
  const std::shared_ptr<const AccessSnapshot> access = service->access();
  return api::authenticate(request, {access_for(request, *options), entry->tenants},
                           {*access, *options->crypto, now.wall});
}

Identity Guard::identify(const HttpRequest& request, const Moment& now) const {
  Identity caller = authenticate(request, now);
  if (!request.head_checked) {
    const KeyRef key = caller ? caller->key : nullptr;
    POSTRIDER_CHECK(check_rate(*control->options(), request.remote_ip, key, now.mono));
  }
  return caller;
}

/// A session is a use of the key that opened it.
void Guard::record_use(const KeyRef& caller) const {
  const KeyRef key =
      caller->key().session ? service->access()->find_key(acting_key(caller->key())) : caller;
  if (key != nullptr) {
    service->record_key_use(*key);
  }
}

Parsed<BodyPermit> Guard::check_head(const HttpRequest& head) const {
  POSTRIDER_TRY(const Caller caller, identify(head, service->now()));
  if (entry->access == Access::publish && caller.tenant_id) {
    POSTRIDER_CHECK(check_not_suspended(*service, *caller.tenant_id));
  }
  return BodyPermit{.body_bytes_max = body_bytes_max(*entry, *control->options()),
                    .owner = share_owner(caller)};
}

/// Restricts the service to the caller's tenant, if the caller has one.
Context Guard::admit(Caller caller) const {
  if (caller.key != nullptr) {
    record_use(caller.key);
  }
  std::shared_ptr<Service> restricted =
      caller.tenant_id ? make_tenant_service(*service, *caller.tenant_id) : nullptr;
  return {.services = Services{restricted ? *restricted : *service},
          .options = control->options(),
          .caller = std::move(caller),
          .restricted = std::move(restricted),
          .shares = &control->shares()};
}

Awaitable<Reply> handle(const Guard& guard, Context context, HttpRequest request) {
  Service& all = *guard.service;
  const Entry& entry = *guard.entry;
  if (entry.replay.status != 0) {
    return answer_idempotently({all, entry.resource, entry.replay}, std::move(context),
                               std::move(request));
  }
  const KeyRef key = context.caller.key;
  const bool may_stream = key != nullptr && request.method == "GET";
  auto handling = entry.resource(std::move(context), std::move(request));
  return may_stream ? guard_stream(std::move(handling), {all, all, key->key().id})
                    : std::move(handling);
}

}  // namespace postrider::api
