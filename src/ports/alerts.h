// Stores active and resolved alerts.
//
// The specification is tests/contract/alert_contract.cc. Calls block. AlertWriter is used by the
// store thread only, each AlertReader by one reader thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/alert.h"
#include "core/model/page.h"

namespace postrider {

class AlertWriter {
 public:
  virtual ~AlertWriter() = default;

  /// The unresolved alerts, in the order in which they were raised.
  [[nodiscard]] virtual Result<std::vector<Alert>> load_active() = 0;
  /// Durable when it returns. An alert that exists already is not changed: an earlier answer may
  /// have been lost.
  [[nodiscard]] virtual Result<void> raise(const Alert& alert) = 0;
  /// Replaces the measure and the detail of the stored alert with this id. Has no effect on an
  /// alert that is unknown or already resolved.
  [[nodiscard]] virtual Result<void> update(const Alert& alert) = 0;
  /// Has no effect on an alert that is unknown or already resolved.
  [[nodiscard]] virtual Result<void> resolve(AlertId id, WallTime at) = 0;
  /// Removes at most `limit` alerts resolved before `before`, oldest first. Returns the number
  /// removed.
  [[nodiscard]] virtual Result<std::uint32_t> remove_resolved(WallTime before,
                                                              std::uint32_t limit) = 0;

 protected:
  AlertWriter() = default;
  AlertWriter(const AlertWriter&) = default;
  AlertWriter& operator=(const AlertWriter&) = default;
};

/// Empty lists and nullopts do not restrict.
struct AlertFilter {
  std::optional<TenantId> tenant_id;
  std::optional<WebhookId> webhook_id;
  std::vector<AlertKind> kinds;
  std::optional<bool> active;
};

class AlertReader {
 public:
  virtual ~AlertReader() = default;

  /// Newest first.
  [[nodiscard]] virtual Result<Listed<Alert>> list_alerts(const AlertFilter& filter,
                                                          const Page& page) = 0;

 protected:
  AlertReader() = default;
  AlertReader(const AlertReader&) = default;
  AlertReader& operator=(const AlertReader&) = default;
};

}  // namespace postrider
