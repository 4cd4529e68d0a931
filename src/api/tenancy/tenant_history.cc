#include "api/tenancy/tenant_history.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/net/tenant_text.h"

namespace postrider::api {
namespace {

/// Nullopt if the filter selects another tenant.
template <class Filter>
std::optional<Filter> restrict_to(const TenantId& tenant_id, Filter filter) {
  if (filter.tenant_id.value_or(tenant_id) != tenant_id) {
    return std::nullopt;
  }
  filter.tenant_id = tenant_id;
  return filter;
}

void hide_in_record(DeliveryRecord& record) {
  if (record.last_attempt) {
    record.last_attempt->error_message =
        without_internal_addresses(record.last_attempt->error_message);
  }
}

class TenantHistory final : public History {
 public:
  TenantHistory(History& all, TenantId tenant_id, std::shared_ptr<const Directory> webhooks)
      : all_(all), tenant_id_(std::move(tenant_id)), webhooks_(std::move(webhooks)) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    const auto mine = restrict_to(tenant_id_, filter);
    if (!mine) {
      return Listed<DeliveryRecord>{};
    }
    POSTRIDER_TRY(Listed<DeliveryRecord> listed, all_.list_deliveries(*mine, page));
    std::ranges::for_each(listed.items, hide_in_record);
    return listed;
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    POSTRIDER_TRY(DeliveryRecord record, all_.find_delivery(id));
    if (record.tenant_id != tenant_id_) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    hide_in_record(record);
    return record;
  }

  Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                       const AttemptPage& page) override {
    const auto mine = restrict_to(tenant_id_, filter);
    if (!mine) {
      return ListedAttempts{};
    }
    POSTRIDER_TRY(ListedAttempts listed, all_.list_attempts(*mine, page));
    for (AttemptRecord& record : listed.items) {
      hide_internal_addresses(record.attempt.outcome);
    }
    return listed;
  }

  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    POSTRIDER_TRY(std::vector<Attempt> attempts, of_own(id, &History::attempts_of));
    for (Attempt& attempt : attempts) {
      hide_internal_addresses(attempt.outcome);
    }
    return attempts;
  }

  Result<std::map<std::uint32_t, RequestShape>> requests_of(DeliveryId id) override {
    return of_own(id, &History::requests_of);
  }

  Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) override {
    return of_own(id, &History::open_periods_of);
  }

  Result<Listed<OpenPeriod>> list_open_periods(WebhookId id, const Page& page) override {
    return webhooks_->find(id) == nullptr ? Listed<OpenPeriod>{} : all_.list_open_periods(id, page);
  }

  Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) override {
    std::vector<WebhookId> mine = ids;
    std::erase_if(mine, [this](WebhookId id) { return webhooks_->find(id) == nullptr; });
    return all_.circuits_of(mine);
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    return webhooks_->find(id) == nullptr ? std::vector<PastCall>{} : all_.recent_calls(id, which);
  }

  Result<std::map<WebhookId, CircuitState>> open_circuits() override {
    POSTRIDER_TRY(auto circuits, all_.open_circuits());
    std::erase_if(circuits,
                  [this](const auto& item) { return webhooks_->find(item.first) == nullptr; });
    return circuits;
  }

  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    const auto mine = restrict_to(tenant_id_, filter);
    return mine ? all_.list_events(*mine, page) : Listed<Event>{};
  }

  Result<Event> find_event(EventId id) override {
    POSTRIDER_TRY(Event event, all_.find_event(id));
    if (event.tenant_id != tenant_id_) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return event;
  }

  Result<std::uint64_t> fanout_remaining(EventId id) override {
    POSTRIDER_CHECK(find_event(id));
    return all_.fanout_remaining(id);
  }

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    const auto mine = restrict_to(tenant_id_, filter);
    if (!mine || webhooks_->find(webhook_id) == nullptr) {
      return Listed<EventForWebhook>{};
    }
    POSTRIDER_TRY(Listed<EventForWebhook> listed, all_.list_events_for(webhook_id, *mine, page));
    for (EventForWebhook& item : listed.items) {
      if (item.delivery) {
        hide_in_record(*item.delivery);
      }
    }
    return listed;
  }

  Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                        const CountRange& range) override {
    const auto mine = restrict_to(tenant_id_, filter);
    return mine ? all_.count_deliveries(*mine, range) : PartialCount{};
  }

  Result<std::optional<std::int64_t>> scan_dead_letters(const DeliveryFilter& filter,
                                                        const CountRange& range,
                                                        const TakeDeadLetter& take) override {
    const auto mine = restrict_to(tenant_id_, filter);
    return mine ? all_.scan_dead_letters(*mine, range, take) : std::nullopt;
  }

  Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) override {
    POSTRIDER_TRY(const std::optional<TenantId> tenant_id, all_.tenant_of_removed(id));
    return tenant_id == tenant_id_ ? tenant_id : std::nullopt;
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    return webhooks_->find(id) == nullptr ? WebhookHealth{} : all_.webhook_health(id);
  }

  Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) override {
    std::vector<WebhookId> mine = ids;
    std::erase_if(mine, [this](WebhookId id) { return webhooks_->find(id) == nullptr; });
    return all_.latest_results(mine);
  }

  Result<TenantCounts> waiting_counts() override {
    POSTRIDER_TRY(TenantCounts counts, all_.waiting_counts());
    std::erase_if(counts.tenants, [this](const auto& item) { return item.first != tenant_id_; });
    return counts;
  }

  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    POSTRIDER_TRY(auto counts, all_.dead_letter_counts());
    std::erase_if(counts, [this](const auto& item) { return item.first != tenant_id_; });
    return counts;
  }

 private:
  /// An empty value if the delivery is not the tenant's.
  template <class Value>
  Result<Value> of_own(DeliveryId id, Result<Value> (History::*read)(DeliveryId)) {
    const Result<DeliveryRecord> record = find_delivery(id);
    if (!record && record.error().code == Errc::not_found) {
      return Value{};
    }
    POSTRIDER_CHECK(record);
    return (all_.*read)(id);
  }

  History& all_;
  TenantId tenant_id_;
  std::shared_ptr<const Directory> webhooks_;
};

class TenantAlerts final : public AlertReader {
 public:
  TenantAlerts(AlertReader& all, TenantId tenant_id)
      : all_(all), tenant_id_(std::move(tenant_id)) {}

  Result<Listed<Alert>> list_alerts(const AlertFilter& filter, const Page& page) override {
    const auto mine = restrict_to(tenant_id_, filter);
    return mine ? all_.list_alerts(*mine, page) : Listed<Alert>{};
  }

 private:
  AlertReader& all_;
  TenantId tenant_id_;
};

}  // namespace

void hide_internal_addresses(Outcome& outcome) {
  outcome.error_message = without_internal_addresses(outcome.error_message);
  if (!is_public_address(outcome.remote_ip)) {
    outcome.remote_ip.clear();
  }
}

std::unique_ptr<AlertReader> make_tenant_alerts(AlertReader& all, TenantId tenant_id) {
  return std::make_unique<TenantAlerts>(all, std::move(tenant_id));
}

std::unique_ptr<History> make_tenant_history(History& all, TenantId tenant_id,
                                             std::shared_ptr<const Directory> webhooks) {
  return std::make_unique<TenantHistory>(all, std::move(tenant_id), std::move(webhooks));
}

}  // namespace postrider::api
