// A history whose lists and counts fail while `fails` is set.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ports/history.h"

namespace postrider::test {

class FaultyHistory final : public History {
 public:
  FaultyHistory(std::unique_ptr<History> real, const std::atomic<bool>& fails)
      : real_(std::move(real)), fails_(fails) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    POSTRIDER_CHECK(check());
    return real_->list_deliveries(filter, page);
  }
  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    POSTRIDER_CHECK(check());
    return real_->list_events_for(webhook_id, filter, page);
  }
  Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                        const CountRange& range) override {
    POSTRIDER_CHECK(check());
    return real_->count_deliveries(filter, range);
  }

  Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                       const AttemptPage& page) override {
    POSTRIDER_CHECK(check());
    return real_->list_attempts(filter, page);
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override { return real_->find_delivery(id); }
  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    return real_->attempts_of(id);
  }
  Result<std::map<std::uint32_t, RequestShape>> requests_of(DeliveryId id) override {
    return real_->requests_of(id);
  }
  Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) override {
    return real_->open_periods_of(id);
  }
  Result<Listed<OpenPeriod>> list_open_periods(WebhookId id, const Page& page) override {
    return real_->list_open_periods(id, page);
  }
  Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) override {
    return real_->circuits_of(ids);
  }
  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    return real_->recent_calls(id, which);
  }
  Result<std::map<WebhookId, CircuitState>> open_circuits() override {
    return real_->open_circuits();
  }
  Result<std::optional<std::int64_t>> scan_dead_letters(const DeliveryFilter& filter,
                                                        const CountRange& range,
                                                        const TakeDeadLetter& take) override {
    return real_->scan_dead_letters(filter, range, take);
  }
  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    return real_->list_events(filter, page);
  }
  Result<Event> find_event(EventId id) override { return real_->find_event(id); }
  Result<std::uint64_t> fanout_remaining(EventId id) override {
    return real_->fanout_remaining(id);
  }
  Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) override {
    return real_->tenant_of_removed(id);
  }
  Result<WebhookHealth> webhook_health(WebhookId id) override { return real_->webhook_health(id); }
  Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) override {
    return real_->latest_results(ids);
  }
  Result<TenantCounts> waiting_counts() override {
    POSTRIDER_CHECK(check());
    return real_->waiting_counts();
  }
  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    POSTRIDER_CHECK(check());
    return real_->dead_letter_counts();
  }

 private:
  [[nodiscard]] Result<void> check() const {
    return fails_ ? Result<void>{fail(Errc::unavailable, "The reader is made to fail.")}
                  : Result<void>{};
  }

  std::unique_ptr<History> real_;
  const std::atomic<bool>& fails_;
};

}  // namespace postrider::test
