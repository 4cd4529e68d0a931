// Limits of the HTTP listener, and rules for events and idempotency keys.
#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr Range timeout_range{100, 3'600'000};
constexpr Range bytes_range{1'024, std::int64_t{1} << 30};

void add_timeouts(std::vector<Setting>& all) {
  all.push_back(integer({"api.header_timeout_ms",
                         "The longest time to receive the header of a request; after that 408."},
                        POSTRIDER_FIELD(api.header_timeout), timeout_range)
                    .on_reload());
  all.push_back(integer({"api.body_timeout_ms",
                         "The longest time to receive the body of a request; after that 408."},
                        POSTRIDER_FIELD(api.body_timeout), timeout_range)
                    .on_reload());
  all.push_back(
      integer({"api.write_timeout_ms", "The longest time for a client to read a response."},
              POSTRIDER_FIELD(api.write_timeout), timeout_range)
          .on_reload());
  all.push_back(integer({"api.idle_timeout_ms", "How long an idle connection is kept."},
                        POSTRIDER_FIELD(api.idle_timeout), timeout_range)
                    .on_reload());
}

}  // namespace

std::vector<Setting> api_settings() {
  std::vector<Setting> all;
  all.push_back(
      integer({"api.body_bytes_max", "The largest request body; a larger one is answered 413."},
              POSTRIDER_FIELD(api.body_bytes_max), bytes_range)
          .on_reload());
  all.push_back(
      integer({"api.header_bytes_max", "The largest request header; a larger one is answered 431."},
              POSTRIDER_FIELD(api.header_bytes_max), {1'024, 1 << 20})
          .on_reload());
  all.push_back(
      integer({"api.connections_max",
               "The most open connections. One more is answered 503 and closed, unless its "
               "first request has a valid key."},
              POSTRIDER_FIELD(api.connections_max), {1, 1'000'000})
          .on_reload());
  all.push_back(integer({"api.connections_per_address_max",
                         "The most open connections from one address, except trusted proxies; 0: "
                         "no fixed limit. An address never has more than it leaves to the others."},
                        POSTRIDER_FIELD(api.connections_per_address_max), {0, 1'000'000})
                    .on_reload());
  add_timeouts(all);
  all.push_back(cidrs({"api.trusted_proxies",
                       "Proxies whose X-Forwarded-For header is trusted. The header is ignored "
                       "from all other addresses."},
                      POSTRIDER_FIELD(api.trusted_proxies))
                    .on_reload());
  add_rate(all, {"api.rate_limit.", "Requests with one API key"}, POSTRIDER_FIELD(api.rate), true);
  add_rate(all,
           {"api.unauthenticated_rate_limit.",
            "Requests from one address without a valid key, except health checks and metrics,"},
           POSTRIDER_FIELD(api.unauthenticated_rate), true);
  all.push_back(integer({"events.data_bytes_max",
                         "The largest `data` of an event; larger data is answered 413."},
                        POSTRIDER_FIELD(events.data_bytes_max), bytes_range)
                    .on_reload());
  all.push_back(
      boolean({"events.require_known_types", "Refuse events whose type is not in the catalogue."},
              POSTRIDER_FIELD(events.require_known_types))
          .on_reload());
  all.push_back(integer({"idempotency.window_ms",
                         "How long an idempotency key is remembered after its first use."},
                        POSTRIDER_FIELD(idempotency.window), {1'000, 2'592'000'000})
                    .on_reload());
  all.push_back(choice({"idempotency.derive",
                        "The idempotency key of an event that has none. none: a random key. "
                        "resource: the hex SHA-256 of `resource_id.type.timestamp` with the "
                        "timestamp in Unix seconds, if the event has a resource and a timestamp."},
                       POSTRIDER_FIELD(idempotency.derive),
                       Words{std::string{"none, resource"}, parse_key_derivation})
                    .on_reload());
  all.push_back(choice({"idempotency.in_progress",
                        "The answer to a repeated publish whose first one is still being "
                        "delivered. duplicate: 200 with the first answer, as after the delivery. "
                        "conflict: 409 `duplicate_event`."},
                       POSTRIDER_FIELD(idempotency.in_progress),
                       Words{std::string{"duplicate, conflict"}, parse_repeat_in_progress})
                    .on_reload());
  return all;
}

}  // namespace postrider::config
