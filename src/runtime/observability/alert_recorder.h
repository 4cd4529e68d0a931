// Knows which alerts are active, and stores when they are raised and resolved. Store thread only.
//
// While the store fails, unwritten changes wait in UnwrittenAlerts and are written once it works
// again. Raised and resolved alerts are logged at once, so that none is lost silently (P12).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/alert.h"
#include "core/model/webhook.h"
#include "engine/alerts/alert_rules.h"
#include "ports/store.h"

#include "runtime/observability/metrics.h"
#include "runtime/observability/unwritten_alerts.h"

namespace postrider {

/// Store failures in a row that raise an alert.
constexpr std::uint32_t store_failures_alarming = 5;

class AlertRecorder {
 public:
  struct Parts {
    std::function<AlertId()> make_id;
    Metrics* metrics = nullptr;
    std::shared_ptr<UnwrittenAlerts> unwritten = std::make_shared<UnwrittenAlerts>();
    /// Makes the notifications about an alert that was raised or resolved, and hands them over to
    /// be sent. They are stored together with the alert. May be empty.
    std::function<std::vector<Notification>(const Alert&, NotificationTransition)> notify = {};
    /// Whether the path of the webhook's URL is a credential, as that of chat services is. Alerts
    /// then show only its origin. May be empty.
    std::function<bool(WebhookId)> has_secret_path = {};
  };

  /// `active`: the alerts that were active when the server ended.
  AlertRecorder(std::vector<Alert> active, Parts parts);

  /// Does nothing if the alert is raised and active already, or resolved and not active. An active
  /// alert that counts on gets the new count. `tenant_id`: the tenant the alert concerns.
  void change(const AlertChange& change, std::optional<TenantId> tenant_id, WallTime now);
  /// The same for an alert about this webhook. The alert names it.
  void change(const AlertChange& change, const Webhook& webhook, WallTime now);
  /// Another server has raised this alert, and this one continues with it.
  void take_over(Alert alert);
  /// Another server continues with the alerts about these webhooks.
  void hand_over(const std::function<bool(WebhookId)>& is_handed_over);
  /// Another server continues with the alerts of this kind.
  void hand_over(AlertKind kind);

  /// Resolves all alerts of a removed webhook.
  void resolve_all(WebhookId webhook_id, WallTime now);

  [[nodiscard]] bool has_unwritten() const { return !parts_.unwritten->empty(); }
  /// Writes all changes in one transaction. If that fails, they stay unwritten.
  [[nodiscard]] Result<void> write(Store& store) { return parts_.unwritten->write(store); }

 private:
  void change(const AlertChange& change, Alert alert);
  template <class Goes>
  void forget(Goes goes);
  void raise(const AlertChange& change, Alert alert);
  void count_on(Alert& active, Alert alert);
  void resolve(std::map<AlertSubject, Alert>::iterator active, WallTime now);
  void notify(const Alert& alert, NotificationTransition transition);

  Parts parts_;
  std::map<AlertSubject, Alert> active_;
};

}  // namespace postrider
