#include "api/tenancy/tenant_stats.h"

#include <utility>

namespace postrider::api {
namespace {

class TenantStats final : public Stats {
 public:
  TenantStats(Stats& all, TenantId tenant_id) : all_(all), tenant_id_(std::move(tenant_id)) {}

  Result<std::vector<SpanTally>> over_time(const StatsFilter& filter, Millis bucket) override {
    if (filter.tenant_id.value_or(tenant_id_) != tenant_id_) {
      return std::vector<SpanTally>{};
    }
    return all_.over_time(mine(filter), bucket);
  }

  Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) override {
    if (filter.tenant_id.value_or(tenant_id_) != tenant_id_) {
      return std::vector<WebhookTally>{};
    }
    return all_.by_webhook(mine(filter));
  }

 private:
  [[nodiscard]] StatsFilter mine(StatsFilter filter) const {
    filter.tenant_id = tenant_id_;
    return filter;
  }

  Stats& all_;
  TenantId tenant_id_;
};

}  // namespace

std::unique_ptr<Stats> make_tenant_stats(Stats& all, TenantId tenant_id) {
  return std::make_unique<TenantStats>(all, std::move(tenant_id));
}

}  // namespace postrider::api
