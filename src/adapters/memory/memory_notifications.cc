#include <algorithm>
#include <mutex>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryNotificationWriter final : public NotificationWriter {
 public:
  explicit MemoryNotificationWriter(MemoryStore& store) : store_(store) {}

  Result<std::vector<NotificationChannel>> load_channels() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<NotificationChannel> channels;
    channels.reserve(store_.channels.size());
    for (const auto& [id, channel] : store_.channels) {
      channels.push_back(channel);
    }
    return channels;
  }

  Result<void> put_channel(const NotificationChannel& channel) override {
    const std::lock_guard guard{store_.mutex};
    store_.channels.insert_or_assign(channel.id, channel);
    return {};
  }

  Result<void> remove_channel(ChannelId id) override {
    const std::lock_guard guard{store_.mutex};
    if (store_.channels.erase(id) == 0) {
      return fail(Errc::not_found, "There is no such notification channel.");
    }
    return {};
  }

  Result<void> add(std::span<const Notification> notifications) override {
    const std::lock_guard guard{store_.mutex};
    for (const Notification& notification : notifications) {
      if (find(notification.id) == store_.notifications.end()) {
        store_.notifications.emplace(store_.next_notification++, notification);
      }
    }
    return {};
  }

  Result<void> settle(std::span<const NotificationOutcome> outcomes) override {
    const std::lock_guard guard{store_.mutex};
    for (const NotificationOutcome& outcome : outcomes) {
      const auto found = find(outcome.id);
      if (found == store_.notifications.end() ||
          found->second.state != NotificationState::waiting) {
        continue;
      }
      Notification& settled = found->second;
      settled.state = outcome.state;
      settled.attempts = outcome.attempts;
      settled.last_error = outcome.last_error;
      settled.sent_at = outcome.sent_at;
      settled.next_attempt_at = outcome.next_attempt_at;
      settled.message_id = outcome.message_id;
      settled.event_id = outcome.event_id;
    }
    return {};
  }

  Result<std::vector<Notification>> load_waiting(std::optional<NotificationId> after,
                                                 std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Notification> waiting;
    for (const auto& [sequence, notification] : store_.notifications) {
      if (notification.state == NotificationState::waiting &&
          store_.channels.contains(notification.channel_id) &&
          (!after || notification.id > *after)) {
        waiting.push_back(notification);
      }
    }
    std::ranges::sort(waiting, {}, &Notification::id);
    waiting.resize(std::min<std::size_t>(waiting.size(), limit));
    return waiting;
  }

  Result<std::uint32_t> remove_old(WallTime before, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::uint32_t removed = 0;
    auto& all = store_.notifications;
    for (auto item = all.begin(); item != all.end() && removed < limit;) {
      const Notification& notification = item->second;
      const bool over =
          !store_.channels.contains(notification.channel_id) ||
          (notification.state != NotificationState::waiting && notification.made_at < before);
      removed += over ? 1 : 0;
      item = over ? all.erase(item) : std::next(item);
    }
    return removed;
  }

 private:
  std::map<std::int64_t, Notification>::iterator find(NotificationId id) {
    return std::ranges::find_if(store_.notifications,
                                [id](const auto& item) { return item.second.id == id; });
  }

  MemoryStore& store_;
};

bool matches(const NotificationFilter& filter, const Notification& notification) {
  const auto& states = filter.states;
  return (!filter.channel_id || filter.channel_id == notification.channel_id) &&
         (!filter.alert_id || filter.alert_id == notification.alert_id) &&
         (states.empty() || std::ranges::find(states, notification.state) != states.end());
}

class MemoryNotificationReader final : public NotificationReader {
 public:
  explicit MemoryNotificationReader(MemoryStore& store) : store_(store) {}

  Result<Listed<Notification>> list_notifications(const NotificationFilter& filter,
                                                  const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<Notification> listed;
    std::uint32_t skipped = 0;
    std::int64_t last = 0;
    const auto& all = store_.notifications;
    auto row = page.before ? all.lower_bound(*page.before) : all.end();
    while (row != all.begin()) {
      --row;
      if (!matches(filter, row->second) || skipped++ < page.offset) {
        continue;
      }
      if (listed.items.size() == page.limit) {
        listed.next = last;
        return listed;
      }
      last = row->first;
      listed.items.push_back(row->second);
    }
    return listed;
  }

  Result<Notification> find_notification(NotificationId id) override {
    const std::lock_guard guard{store_.mutex};
    for (const auto& [sequence, notification] : store_.notifications) {
      if (notification.id == id) {
        return notification;
      }
    }
    return fail(Errc::not_found, "There is no such notification.");
  }

  Result<NotificationCounts> count_notifications(ChannelId id) override {
    const std::lock_guard guard{store_.mutex};
    NotificationCounts counts;
    for (const auto& [sequence, notification] : store_.notifications) {
      if (notification.channel_id == id) {
        ++count_of(counts, notification.state);
      }
    }
    return counts;
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<NotificationWriter> make_memory_notification_writer(MemoryStore& store) {
  return std::make_unique<MemoryNotificationWriter>(store);
}

std::unique_ptr<NotificationReader> make_memory_notification_reader(MemoryStore& store) {
  return std::make_unique<MemoryNotificationReader>(store);
}

}  // namespace postrider
