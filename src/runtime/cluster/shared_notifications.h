// The notifications of servers that share a store: all store what they make, and the server that
// leads sends it. Store thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/alert.h"
#include "core/model/notification.h"
#include "ports/clock.h"

#include "runtime/cluster/stored_notifications.h"
#include "runtime/notifications/notifier.h"
#include "runtime/observability/unwritten_alerts.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

class SharedNotifications {
 public:
  /// All must outlive this object. The threads must end before it is destroyed.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    ReaderPool* readers = nullptr;
    Notifier* notifier = nullptr;
    UnwrittenAlerts* unwritten = nullptr;
    /// This server continues with an alert about notifications.
    std::function<void(const Alert&)> take_over;
  };

  explicit SharedNotifications(Parts parts) : parts_(std::move(parts)) {}

  /// From now on this server sends, beginning with what waits in the store.
  void start_leading();
  /// Another server continues with what waits.
  void stop_leading();

  /// Sends what this server has made, if it leads. The caller stores it. While the store fails,
  /// this is all that is sent.
  void submit(const std::vector<Notification>& made);
  /// Finds what other servers have stored. Call often; looks once per second.
  [[nodiscard]] Result<void> look(Store& store);

 private:
  /// `starting`: what the last leader left is still to be read. `loading`: it is being read.
  enum class State : std::uint8_t { off, starting, loading, sending };

  [[nodiscard]] Result<void> load(Store& store);
  void loaded(std::uint64_t number, const Result<void>& read, NotificationsBefore before);

  Parts parts_;
  StoredNotifications stored_;
  State state_ = State::off;
  std::uint64_t loads_ = 0;  // The number of the current one.
  std::optional<MonoTime> looked_at_;
};

}  // namespace postrider
