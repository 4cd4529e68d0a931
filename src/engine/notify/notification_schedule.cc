#include "engine/notify/notification_schedule.h"

#include <algorithm>
#include <utility>

namespace postrider {
namespace {

constexpr const char* switched_off = "The channel is switched off.";

}  // namespace

ChannelQueue* NotificationSchedule::queue_of(ChannelId id) {
  if (const auto known = queues_.find(id); known != queues_.end()) {
    return &known->second;
  }
  const ChannelRef channel = channels_->find(id);
  return channel ? &queues_.emplace(id, ChannelQueue{channel}).first->second : nullptr;
}

template <class Change>
void NotificationSchedule::change_queue(ChannelId id, Change change) {
  ChannelQueue* queue = queue_of(id);
  if (!queue) {
    return;  // The store removes what it owes.
  }
  const std::size_t known = settled_.size();
  waiting_ -= queue->waiting();
  change(*queue);
  const ChannelRef channel = channels_->find(id);
  if (channel && !channel->active && !queue->has_test()) {
    queue->hold_back_all(switched_off, settled_);
  }
  waiting_ += queue->waiting();
  count_settled(id, known);
}

void NotificationSchedule::count_settled(ChannelId id, std::size_t known) {
  if (const ChannelRef channel = channels_->find(id)) {
    for (std::size_t i = known; i < settled_.size(); ++i) {
      ++tally_[{channel->kind, settled_[i].state}];
    }
  }
}

void NotificationSchedule::change(std::shared_ptr<const ChannelDirectory> channels) {
  if (channels == channels_) {
    return;
  }
  channels_ = std::move(channels);
  for (auto each = queues_.begin(); each != queues_.end();) {
    const auto queue = each++;
    if (const ChannelRef channel = channels_->find(queue->first)) {
      change_queue(channel->id, [&](ChannelQueue& changed) { changed.change(channel); });
    } else if (!queue->second.is_sending()) {
      waiting_ -= queue->second.waiting();
      queues_.erase(queue);
    }
  }
}

void NotificationSchedule::add(Notification notification, WallTime now) {
  if (waiting_ >= waiting_total_max) {
    settled_.push_back({.id = notification.id,
                        .state = NotificationState::held_back,
                        .attempts = notification.attempts,
                        .last_error = "Too many notifications wait."});
    count_settled(notification.channel_id, settled_.size() - 1);
    return;
  }
  const ChannelId id = notification.channel_id;
  change_queue(id, [&](ChannelQueue& queue) { queue.add(std::move(notification), now, settled_); });
}

void NotificationSchedule::hand_over() {
  for (auto& [id, queue] : queues_) {
    waiting_ -= queue.waiting();
    queue.hand_over();
    waiting_ += queue.waiting();
  }
}

void NotificationSchedule::restore(Notification notification, WallTime now) {
  const ChannelId id = notification.channel_id;
  change_queue(id,
               [&](ChannelQueue& queue) { queue.restore(std::move(notification), now, settled_); });
}

void NotificationSchedule::remember_told(ChannelId channel, AlertId id) {
  change_queue(channel, [&](ChannelQueue& queue) { queue.remember_told(id); });
}

void NotificationSchedule::remember_sent(ChannelId channel, WallTime at) {
  change_queue(channel, [&](ChannelQueue& queue) { queue.remember_sent(at); });
}

bool NotificationSchedule::is_paused(ChannelId id, const ChannelQueue& queue, WallTime now) const {
  const ChannelRef channel = channels_->find(id);
  return channel && channel->kind == ChannelKind::email && !queue.has_test() &&
         mail_paused_until_.value_or(now) > now;
}

std::optional<OutgoingMessage> NotificationSchedule::take_from(Queues::iterator queue,
                                                               WallTime now) {
  const std::optional<WallTime> due = queue->second.due();
  if (!due || *due > now || is_paused(queue->first, queue->second, now)) {
    return std::nullopt;
  }
  const std::size_t known = settled_.size();
  waiting_ -= queue->second.waiting();
  std::optional<OutgoingMessage> message = queue->second.take(now, settled_);
  waiting_ += queue->second.waiting();
  count_settled(queue->first, known);
  if (message) {
    last_ = queue->first;
  }
  return message;
}

std::optional<OutgoingMessage> NotificationSchedule::next(WallTime now) {
  // Each channel has its turn, so that none waits for another's backlog.
  const auto start = queues_.upper_bound(last_);
  for (auto queue = start; queue != queues_.end(); ++queue) {
    if (auto message = take_from(queue, now)) {
      return message;
    }
  }
  for (auto queue = queues_.begin(); queue != start; ++queue) {
    if (auto message = take_from(queue, now)) {
      return message;
    }
  }
  std::erase_if(queues_, [&](const auto& entry) { return entry.second.is_idle(now); });
  return std::nullopt;
}

void NotificationSchedule::finish(ChannelId channel, const SendResult& result, WallTime now) {
  change_queue(channel, [&](ChannelQueue& queue) { queue.finish(result, now, settled_); });
  const ChannelRef known = channels_->find(channel);
  if (!known) {
    if (const auto gone = queues_.find(channel); gone != queues_.end()) {
      waiting_ -= gone->second.waiting();
      queues_.erase(gone);
    }
    return;
  }
  if (known->kind != ChannelKind::email) {
    return;
  }
  if (result.verdict == SendVerdict::unreachable) {
    mail_paused_until_ = later(now, mail_pause);
  } else if (std::exchange(mail_paused_until_, std::nullopt)) {
    for (auto& [id, queue] : queues_) {
      queue.retry_unreachable(now);
    }
  }
}

std::optional<WallTime> NotificationSchedule::wake_at() const {
  std::optional<WallTime> first;
  for (const auto& [id, queue] : queues_) {
    if (std::optional<WallTime> due = queue.due()) {
      if (is_paused(id, queue, *due)) {
        due = mail_paused_until_;
      }
      first = std::min(first.value_or(*due), *due);
    }
  }
  return first;
}

std::set<ChannelId> NotificationSchedule::failing() const {
  std::set<ChannelId> ids;
  for (const auto& [id, queue] : queues_) {
    if (queue.is_failing()) {
      ids.insert(id);
    }
  }
  return ids;
}

std::string NotificationSchedule::last_error(ChannelId channel) const {
  const auto known = queues_.find(channel);
  return known == queues_.end() ? std::string{} : known->second.last_error();
}

}  // namespace postrider
