// Changes of alerts that are not stored yet, and a reader that shows them together with the stored
// ones: while the disk is full, an alert about it is visible nevertheless (P12). Also the
// notifications about these changes, which are stored with them, and what became of notifications.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/result.h"
#include "core/model/alert.h"
#include "core/model/notification.h"
#include "ports/alerts.h"
#include "ports/store.h"

namespace postrider {

/// Changed by the store thread, read by any thread.
class UnwrittenAlerts {
 public:
  [[nodiscard]] bool empty() const;

  /// False if the limit is reached: no further alert may be added.
  [[nodiscard]] bool has_room() const;

  void raise(Alert alert);
  /// The new detail and measure of an alert that is active.
  void update(const Alert& alert);
  void resolve(AlertId id, WallTime at);

  void notify(const std::vector<Notification>& notifications);
  /// What became of notifications, in order.
  void settle(const std::vector<NotificationOutcome>& outcomes);

  /// Stores all changes in one transaction and forgets them. If that fails, they are kept.
  [[nodiscard]] Result<void> write(Store& store);

  /// The raised alerts that match, newest first.
  [[nodiscard]] std::vector<Alert> raised(const AlertFilter& filter) const;
  /// Applies the other changes to alerts that were read from the store, and removes those that the
  /// filter no longer selects or that are also among `shown`.
  void apply_to(std::vector<Alert>& stored, const AlertFilter& filter,
                const std::vector<Alert>& shown) const;

 private:
  [[nodiscard]] std::size_t count() const {
    return raised_.size() + updated_.size() + resolved_.size() + notifications_.size() +
           outcomes_.size();
  }

  mutable std::mutex mutex_;          // Guards the five below.
  std::vector<Alert> raised_;         // Some may be resolved already.
  std::map<AlertId, Alert> updated_;  // Of alerts that are stored.
  std::map<AlertId, WallTime> resolved_;
  std::vector<Notification> notifications_;
  std::vector<NotificationOutcome> outcomes_;
};

/// Lists the unwritten alerts before the stored ones. If the store cannot be read, lists them
/// alone.
[[nodiscard]] std::unique_ptr<AlertReader> with_unwritten(
    std::unique_ptr<AlertReader> stored, std::shared_ptr<const UnwrittenAlerts> unwritten);

}  // namespace postrider
