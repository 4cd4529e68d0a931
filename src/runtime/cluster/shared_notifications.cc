#include "runtime/cluster/shared_notifications.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/notifications/load_notifications.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// A look reads everything that waits. The window in which notifications are grouped is longer.
constexpr Millis look_period{1'000};

}  // namespace

void SharedNotifications::start_leading() {
  state_ = State::starting;
  looked_at_.reset();
}

void SharedNotifications::stop_leading() {
  state_ = State::off;
  ++loads_;
  parts_.notifier->hand_over();
}

void SharedNotifications::submit(const std::vector<Notification>& made) {
  if (state_ == State::sending) {  // Otherwise they are found in the store.
    stored_.add_known(made);
    parts_.notifier->submit(made);
  }
}

Result<void> SharedNotifications::look(Store& store) {
  const MonoTime now = parts_.clock->now().mono;
  const bool is_early = looked_at_ && now - *looked_at_ < look_period;
  if (state_ == State::off || state_ == State::loading || is_early) {
    return {};
  }
  looked_at_ = now;
  if (state_ == State::starting) {
    return load(store);
  }
  POSTRIDER_TRY(std::vector<Notification> found, stored_.take_new(*store.notifications));
  parts_.notifier->submit(std::move(found));
  return {};
}

/// What was told is read after what waits, so that nothing falls between.
Result<void> SharedNotifications::load(Store& store) {
  // What this server sent when it led before does not wait any more.
  POSTRIDER_CHECK(parts_.unwritten->write(store));
  auto before = std::make_shared<NotificationsBefore>();
  POSTRIDER_TRY(before->alerts, store.alerts->load_active());
  POSTRIDER_TRY(const std::vector<NotificationChannel> channels,
                store.notifications->load_channels());
  stored_.forget_all();
  POSTRIDER_TRY(before->waiting, stored_.take_new(*store.notifications));
  for (const Alert& alert : before->alerts) {
    if (alert.subject.kind == AlertKind::notifications_failing) {
      parts_.take_over(alert);
    }
  }
  state_ = State::loading;
  const std::uint64_t number = ++loads_;
  const WallTime now = parts_.clock->now().wall;
  parts_.readers->submit([this, before, channels, number, now](Reader& reader) {
    const Result<void> read = load_told_and_sent(*reader.notifications, channels, now, *before);
    parts_.store->submit(
        StoreTask{[this, before, number, read](Store&, RepliesByShard&) -> Result<void> {
          loaded(number, read, std::move(*before));
          return {};
        }});
  });
  return {};
}

void SharedNotifications::loaded(std::uint64_t number, const Result<void>& read,
                                 NotificationsBefore before) {
  if (number != loads_) {
    return;  // Another server has led since.
  }
  if (!read) {
    spdlog::warn("notifications.not_loaded reason=\"{}\"", log_safe(read.error().message));
    state_ = State::starting;
    return;
  }
  state_ = State::sending;
  looked_at_.reset();
  parts_.notifier->take_over(std::move(before));
}

}  // namespace postrider
