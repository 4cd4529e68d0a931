// Alerts, current and past.
//
// The specification is tests/contract/alert_contract.cc. Calls block; AlertBook is used by the
// store thread only, AlertHistory by one reader thread each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/alert.h"
#include "core/result.h"
#include "ports/history.h"

namespace postrider {

class AlertBook {
 public:
  virtual ~AlertBook() = default;

  /// Those that are not resolved, in the order in which they were raised.
  [[nodiscard]] virtual Result<std::vector<Alert>> load_active() = 0;
  /// Durable when it returns. One that is there already stays as it is: an answer may have been
  /// lost.
  [[nodiscard]] virtual Result<void> raise(const Alert& alert) = 0;
  /// One that is resolved already, or unknown, stays so.
  [[nodiscard]] virtual Result<void> resolve(AlertId id, WallTime at) = 0;
  /// Removes at most `limit` that were resolved before then, oldest first, and says how many.
  [[nodiscard]] virtual Result<std::uint32_t> remove_resolved(WallTime before,
                                                              std::uint32_t limit) = 0;

 protected:
  AlertBook() = default;
  AlertBook(const AlertBook&) = default;
  AlertBook& operator=(const AlertBook&) = default;
};

/// Empty lists and nullopts do not restrict.
struct AlertFilter {
  std::optional<TenantId> tenant_id;
  std::optional<WebhookId> webhook_id;
  std::vector<AlertKind> kinds;
  std::optional<bool> active;
};

class AlertHistory {
 public:
  virtual ~AlertHistory() = default;

  /// Newest first.
  [[nodiscard]] virtual Result<Listed<Alert>> list_alerts(const AlertFilter& filter,
                                                          const Page& page) = 0;

 protected:
  AlertHistory() = default;
  AlertHistory(const AlertHistory&) = default;
  AlertHistory& operator=(const AlertHistory&) = default;
};

}  // namespace postrider
