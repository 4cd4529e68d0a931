// Limits of all deliveries together.
#include "config/settings.h"

namespace postrider::config {

std::vector<Setting> engine_settings() {
  std::vector<Setting> all;
  all.push_back(
      integer({"engine.in_flight_max",
               "The most concurrent requests to all webhooks together, across all io threads."},
              POSTRIDER_FIELD(engine.in_flight_max), {1, 100'000}));
  all.push_back(
      integer({"engine.tenant_in_flight_max",
               "The most concurrent requests for one tenant; 0: half of engine.in_flight_max."},
              POSTRIDER_FIELD(engine.tenant_in_flight_max), {0, 100'000}));
  all.push_back(integer({"engine.first_attempt_reserve_percentage",
                         "The percentage of engine.in_flight_max that retries cannot use."},
                        POSTRIDER_FIELD(engine.first_attempt_reserve_percentage), {0, 90}));
  add_rate(all,
           {"engine.tenant_rate_limit.", "Deliveries of one tenant, to all its webhooks together,"},
           POSTRIDER_FIELD(engine.tenant_rate), false);
  add_rate(all, {"engine.total_rate_limit.", "Deliveries of all tenants together"},
           POSTRIDER_FIELD(engine.total_rate), false);
  all.push_back(integer({"limits.per_host_in_flight",
                         "The most concurrent requests to one host, over all webhooks and tenants; "
                         "0: no limit. Requests that check the URL of a webhook do not count."},
                        POSTRIDER_FIELD(engine.host_in_flight_max), {0, 100'000}));
  all.push_back(integer({"limits.webhooks_per_tenant",
                         "The most webhooks of a tenant that has no limit of its own, and of the "
                         "default tenant; 0: no limit."},
                        POSTRIDER_FIELD(webhooks.per_tenant_max), {0, 1'000'000}));
  all.push_back(integer({"limits.timeout_ms_max",
                         "The largest timeout_ms of a webhook, unless its tenant's limits say "
                         "otherwise; 0: no limit. Also bounds a timeout that grows with retries."},
                        POSTRIDER_FIELD(engine.webhook_timeout_max), {0, 300'000}));
  all.push_back(integer({"limits.max_in_flight_max",
                         "The largest max_in_flight of a webhook, unless its tenant's limits say "
                         "otherwise; 0: no limit."},
                        POSTRIDER_FIELD(engine.webhook_in_flight_max), {0, 1'000}));
  return all;
}

}  // namespace postrider::config
