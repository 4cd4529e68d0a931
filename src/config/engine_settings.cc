// How much is sent at once, all webhooks together.
#include "config/settings.h"

namespace postrider::config {

std::vector<Setting> engine_settings() {
  std::vector<Setting> all;
  all.push_back(integer({"engine.in_flight_max",
                         "Requests under way at once, all webhooks "
                         "together, on whichever io thread they are."},
                        POSTRIDER_FIELD(engine.in_flight_max), {1, 100'000}));
  all.push_back(integer({"engine.tenant_in_flight_max",
                         "Requests under way at once for one tenant; 0: half of "
                         "engine.in_flight_max."},
                        POSTRIDER_FIELD(engine.tenant_in_flight_max), {0, 100'000}));
  all.push_back(integer({"engine.first_attempt_reserve_percentage",
                         "The share of engine.in_flight_max that retries never take."},
                        POSTRIDER_FIELD(engine.first_attempt_reserve_percentage), {0, 90}));
  add_rate(all,
           {"engine.tenant_rate_limit.", "Deliveries of one tenant, all its webhooks together"},
           POSTRIDER_FIELD(engine.tenant_rate), false);
  add_rate(all, {"engine.total_rate_limit.", "Deliveries of everyone, all webhooks together"},
           POSTRIDER_FIELD(engine.total_rate), false);
  return all;
}

}  // namespace postrider::config
