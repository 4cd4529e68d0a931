// What one transaction adds to the statistics. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery_tally.h"
#include "core/model/event.h"
#include "ports/stats.h"

namespace postrider::postgres {

struct WebhookSpan {
  std::int64_t span = 0;
  WebhookId webhook_id;
  TenantId tenant_id;
};
struct TenantSpan {
  std::int64_t span = 0;
  TenantId tenant_id;
};

/// Orders keys, and finds them by views of their texts.
struct SpanLess {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.

  using WebhookView = std::tuple<std::int64_t, const WebhookId&, std::string_view>;
  using TenantView = std::tuple<std::int64_t, std::string_view>;

  static WebhookView view(const WebhookSpan& key) {
    return {key.span, key.webhook_id, key.tenant_id};
  }
  static TenantView view(const TenantSpan& key) { return {key.span, key.tenant_id}; }
  static const WebhookView& view(const WebhookView& key) { return key; }
  static const TenantView& view(const TenantView& key) { return key; }

  bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
};

struct WebhookSums {
  DeliveryTally tally;
  std::optional<WallTime> last_success_at;  // The latest executed_at.
  std::optional<WallTime> last_failure_at;

  void add(const Attempt& attempt) {
    tally.add(attempt);
    std::optional<WallTime>& latest = attempt.failure_category ? last_failure_at : last_success_at;
    latest = std::max(latest.value_or(attempt.outcome.executed_at), attempt.outcome.executed_at);
  }
  void add(const WebhookSums& other) {
    tally.add(other.tally);
    last_success_at = std::max(last_success_at, other.last_success_at);
    last_failure_at = std::max(last_failure_at, other.last_failure_at);
  }
};

using WebhookStats = std::map<WebhookSpan, WebhookSums, SpanLess>;
using TenantStats = std::map<TenantSpan, DeliveryTally, SpanLess>;

class StatsChanges {
 public:
  /// The returned reference is valid until the next call.
  [[nodiscard]] WebhookSums& of_webhook(WebhookId webhook_id, std::string_view tenant_id,
                                        WallTime at) {
    const std::int64_t span = stats_span_of(at);
    const auto found = webhooks_.find(SpanLess::WebhookView{span, webhook_id, tenant_id});
    return found != webhooks_.end() ? found->second
                                    : webhooks_[WebhookSpan{span, webhook_id, TenantId{tenant_id}}];
  }
  [[nodiscard]] DeliveryTally& of_tenant(std::string_view tenant_id, WallTime at) {
    const std::int64_t span = stats_span_of(at);
    const auto found = tenants_.find(SpanLess::TenantView{span, tenant_id});
    return found != tenants_.end() ? found->second
                                   : tenants_[TenantSpan{span, TenantId{tenant_id}}];
  }

  [[nodiscard]] const WebhookStats& webhooks() const { return webhooks_; }
  [[nodiscard]] const TenantStats& tenants() const { return tenants_; }

 private:
  WebhookStats webhooks_;
  TenantStats tenants_;
};

/// Call when a counted delivery leaves its state. The row of another node or of an earlier start
/// may have counted it, so a count of this row may wrap below zero; the sum of all rows is still
/// right. Readers treat a sum below zero as zero: retention has removed the row that counted the
/// delivery.
inline void remove_settled(DeliveryTally& tally, DeliveryState state) {
  if (state == DeliveryState::succeeded) {
    --tally.now_succeeded;
  } else if (state == DeliveryState::dead_letter) {
    --tally.now_dead_letter;
  }
}

}  // namespace postrider::postgres
