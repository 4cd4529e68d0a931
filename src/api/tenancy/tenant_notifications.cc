#include "api/tenancy/tenant_notifications.h"

#include <utility>

namespace postrider::api {
namespace {

class TenantNotifications final : public NotificationReader {
 public:
  TenantNotifications(NotificationReader& all, std::shared_ptr<const ChannelDirectory> channels)
      : all_(all), channels_(std::move(channels)) {}

  /// The filter must name a channel.
  Result<Listed<Notification>> list_notifications(const NotificationFilter& filter,
                                                  const Page& page) override {
    if (!filter.channel_id || !channels_->find(*filter.channel_id)) {
      return Listed<Notification>{};
    }
    return all_.list_notifications(filter, page);
  }

  Result<Notification> find_notification(NotificationId id) override {
    POSTRIDER_TRY(Notification notification, all_.find_notification(id));
    if (!channels_->find(notification.channel_id)) {
      return fail(Errc::not_found, "There is no such notification.");
    }
    return notification;
  }

  Result<NotificationCounts> count_notifications(ChannelId id) override {
    return channels_->find(id) ? all_.count_notifications(id) : NotificationCounts{};
  }

 private:
  NotificationReader& all_;
  std::shared_ptr<const ChannelDirectory> channels_;
};

}  // namespace

std::unique_ptr<NotificationReader> make_tenant_notifications(
    NotificationReader& all, std::shared_ptr<const ChannelDirectory> channels) {
  return std::make_unique<TenantNotifications>(all, std::move(channels));
}

}  // namespace postrider::api
