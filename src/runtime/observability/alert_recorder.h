// Keeps the alerts: knows which are active, and writes down what begins and what is over. Belongs
// to the store thread.
//
// While the store cannot write, what is to be written waits here; it is written as soon as the
// store is back. Everything is logged at once, so that nothing is lost silently even then (P12).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/alert.h"
#include "engine/alerts/alert_rules.h"
#include "ports/store.h"

#include "runtime/observability/metrics.h"

namespace postrider {

constexpr std::uint32_t store_failures_alarming = 5;

class AlertRecorder {
 public:
  struct Parts {
    std::function<AlertId()> make_id;
    Metrics* metrics = nullptr;
  };

  /// `active`: those of before.
  AlertRecorder(std::vector<Alert> active, Parts parts);

  /// Raising what is active, or resolving what is not, changes nothing. `tenant_id`: whose webhook
  /// it is about.
  void change(const AlertChange& change, std::optional<TenantId> tenant_id, WallTime now);
  /// The webhook is no more: neither are its troubles.
  void forget(WebhookId webhook_id, WallTime now);

  /// Is there something to write?
  [[nodiscard]] bool owes() const { return !raised_.empty() || !resolved_.empty(); }
  [[nodiscard]] Result<void> write(Store& store);

 private:
  struct Resolution {
    AlertId id;
    WallTime at;
  };

  void raise(const AlertChange& change, std::optional<TenantId> tenant_id, WallTime now);
  void resolve(std::map<AlertSubject, Alert>::iterator active, WallTime now);
  [[nodiscard]] bool has_room() const;

  Parts parts_;
  std::map<AlertSubject, Alert> active_;
  std::vector<Alert> raised_;  // Not yet written; some may be over already.
  std::vector<Resolution> resolved_;
};

}  // namespace postrider
