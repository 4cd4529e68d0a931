#include "engine/notify/channel_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "core/base/growth.h"
#include "engine/notify/notification_plan.h"

namespace postrider {
namespace {

bool is_raised(const Notification& notification) {
  return notification.transition == NotificationTransition::raised;
}

bool is_resolved(const Notification& notification) {
  return notification.transition == NotificationTransition::resolved;
}

AlertSubject subject_of(const Notification& notification) {
  const NotificationFacts& facts = notification.facts;
  return {.kind = notification.kind.alert,
          .webhook_id = facts.webhook_id,
          .tenant_id = facts.tenant_id,
          .source = facts.source};
}

/// A time before the restart counts; one that a wrong clock wrote does not.
WallTime waiting_since(const Notification& notification, WallTime now) {
  const WallTime made = notification.made_at;
  return made <= now && now - made < send_give_up_after ? made : now;
}

}  // namespace

ChannelQueue::Audience ChannelQueue::audience_of(const Notification& notification) const {
  Audience audience;
  if (channel_->kind == ChannelKind::email && channel_->email.to_contacts) {
    audience.tenant_id = notification.facts.tenant_id;
  }
  if (channel_->kind == ChannelKind::email && channel_->email.to_owner) {
    audience.owner_email = notification.facts.owner_email;
    // The owner of a webhook is not told about another tenant's.
    audience.tenant_id = notification.facts.tenant_id;
  }
  return audience;
}

ChannelQueue::GroupKey ChannelQueue::key_of(const Notification& notification) const {
  return {.kind = notification.kind,
          .transition = notification.transition,
          .audience = audience_of(notification)};
}

std::size_t ChannelQueue::waiting() const {
  std::size_t count = tests_.size() + held_.size() + (flight_ ? flight_->members.size() : 0);
  for (const auto& [key, group] : groups_) {
    count += group.members.size();
  }
  for (const Partial& partial : partials_) {
    count += partial.members.size();
  }
  return count;
}

bool ChannelQueue::is_idle(WallTime now) const {
  return waiting() == 0 && told_.empty() && surplus_ == 0 && !failing_ && limit_.is_idle(now) &&
         damper_.is_idle(now);
}

// ---------------------------------------------------------------- adding

void ChannelQueue::add(Notification notification, WallTime now, NotificationOutcomes& settled) {
  add(Member{.notification = std::move(notification), .since = now, .not_before = now}, now,
      settled);
}

void ChannelQueue::restore(Notification notification, WallTime now, NotificationOutcomes& settled) {
  const auto is_same = [&](const Member& member) {
    return member.notification.id == notification.id;
  };
  if (flight_ && std::ranges::any_of(flight_->members, is_same)) {
    flight_->handed_over = false;
    return;
  }
  const WallTime since = waiting_since(notification, now);
  add(Member{.notification = std::move(notification), .since = since, .not_before = now}, now,
      settled);
}

void ChannelQueue::add(Member member, WallTime now, NotificationOutcomes& settled) {
  if (waiting() >= waiting_per_channel_max) {
    ++surplus_;
    hold_back(member.notification, "Too many notifications of the channel wait.", settled);
    return;
  }
  switch (member.notification.transition) {
    case NotificationTransition::raised:
      add_raised(std::move(member), now, settled);
      return;
    case NotificationTransition::resolved:
      add_resolved(std::move(member), now, settled);
      return;
    case NotificationTransition::finished:
      add_to_group(std::move(member), now);
      return;
    case NotificationTransition::test:
      tests_.push_back(std::move(member));
      return;
  }
}

void ChannelQueue::hold_back(const Notification& notification, std::string reason,
                             NotificationOutcomes& settled) {
  if (is_resolved(notification) && notification.alert_id) {
    told_.erase(*notification.alert_id);
  }
  settled.push_back({.id = notification.id,
                     .state = NotificationState::held_back,
                     .attempts = notification.attempts,
                     .last_error = std::move(reason)});
}

void ChannelQueue::add_to_group(Member member, WallTime now) {
  Group& group = groups_[key_of(member.notification)];
  const WallTime window_end = later(member.since, channel_->group_window);
  if (group.members.empty()) {
    group.window_end = window_end;
    group.retry_at.reset();
  } else if (group.retry_at) {
    // News is worth another attempt.
    group.retry_at = std::min(*group.retry_at, window_end);
  }
  // After a restart, what was tried before waits as long as it would have.
  if (const auto& next = member.notification.next_attempt_at; next && *next > now) {
    group.retry_at = std::min(group.retry_at.value_or(*next), *next);
  }
  group.members.push_back(std::move(member));
}

template <class Fits>
std::optional<ChannelQueue::Member> ChannelQueue::remove_untried(Fits fits) {
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    std::vector<Member>& members = group->second.members;
    const auto found = std::ranges::find_if(members, [&](const Member& member) {
      return member.notification.attempts == 0 && fits(member);
    });
    if (found != members.end()) {
      Member removed = std::move(*found);
      members.erase(found);
      if (members.empty()) {
        groups_.erase(group);
      }
      return removed;
    }
  }
  return std::nullopt;
}

void ChannelQueue::add_raised(Member member, WallTime now, NotificationOutcomes& settled) {
  const AlertSubject subject = subject_of(member.notification);
  const auto ended = remove_untried([&](const Member& other) {
    return is_resolved(other.notification) && subject_of(other.notification) == subject &&
           told_.contains(*other.notification.alert_id) &&
           now - other.since < channel_->group_window;
  });
  if (ended) {
    // For the readers it never ended.
    hold_back(ended->notification, "It was raised again within the window.", settled);
    hold_back(member.notification, "It was resolved only within the window.", settled);
    if (member.notification.alert_id) {
      told_.insert(*member.notification.alert_id);
    }
    return;
  }
  member.not_before = damper_.not_before(subject, now);
  add_to_group(std::move(member), now);
}

void ChannelQueue::add_resolved(Member member, WallTime now, NotificationOutcomes& settled) {
  if (!member.notification.alert_id) {
    hold_back(member.notification, "It belongs to no alert.", settled);
    return;
  }
  const AlertId alert = *member.notification.alert_id;
  const auto raised = remove_untried([&](const Member& other) {
    const bool is_recent = now - other.since < channel_->group_window;
    return is_raised(other.notification) && other.notification.alert_id == alert &&
           (is_recent || other.not_before > now);
  });
  if (raised) {
    hold_back(raised->notification, "It was resolved before it was told.", settled);
    hold_back(member.notification, "Its alert was not told.", settled);
  } else if (waits(alert)) {
    member.not_before = wall_time_max;
    add_to_group(std::move(member), now);
  } else if (told_.contains(alert)) {
    add_to_group(std::move(member), now);
  } else {
    hold_back(member.notification, "Its alert was not told.", settled);
  }
}

bool ChannelQueue::waits(AlertId raised) const {
  const auto has = [&](const std::vector<Member>& members) {
    return std::ranges::any_of(members, [&](const Member& member) {
      return is_raised(member.notification) && member.notification.alert_id == raised;
    });
  };
  return (flight_ && !flight_->message.is_summary && has(flight_->members)) ||
         std::ranges::any_of(groups_,
                             [&](const auto& entry) { return has(entry.second.members); }) ||
         std::ranges::any_of(partials_, [&](const Partial& each) { return has(each.members); });
}

void ChannelQueue::hold_back_all(const std::string& reason, NotificationOutcomes& settled) {
  const auto settle = [&](const std::vector<Member>& members) {
    for (const Member& member : members) {
      hold_back(member.notification, reason, settled);
    }
  };
  for (const auto& [key, group] : groups_) {
    settle(group.members);
  }
  for (const Partial& partial : partials_) {
    settle(partial.members);
  }
  settle(held_);
  groups_.clear();
  partials_.clear();
  held_.clear();
  surplus_ = 0;
  failing_ = false;
}

void ChannelQueue::hand_over() {
  groups_.clear();
  partials_.clear();
  held_.clear();
  summary_retry_at_.reset();
  surplus_ = 0;
  told_.clear();
  limit_ = {};
  failures_in_row_ = 0;
  failing_ = false;
  if (flight_) {
    const Notification& first = flight_->members.front().notification;
    flight_->handed_over = first.transition != NotificationTransition::test;
  }
}

// ---------------------------------------------------------------- taking

std::optional<WallTime> ChannelQueue::due_of(const Group& group) {
  WallTime first = wall_time_max;
  for (const Member& member : group.members) {
    first = std::min(first, member.not_before);
  }
  if (first == wall_time_max) {
    return std::nullopt;
  }
  return std::max({first, group.window_end, group.retry_at.value_or(first)});
}

std::optional<WallTime> ChannelQueue::due() const {
  if (flight_) {
    return std::nullopt;
  }
  if (!tests_.empty()) {
    return tests_.front().since;
  }
  std::optional<WallTime> first;
  for (const auto& [key, group] : groups_) {
    first = earliest(first, due_of(group));
  }
  for (const Partial& partial : partials_) {
    first = earliest(first, std::optional{partial.retry_at});
  }
  if (!held_.empty()) {
    const WallTime ready = summary_retry_at_.value_or(held_.front().since);
    first = earliest(first, std::optional{std::max(ready, limit_.room_at(per_hour_max()))});
  }
  return first;
}

std::optional<OutgoingMessage> ChannelQueue::take(WallTime now, NotificationOutcomes& settled) {
  if (flight_) {
    return std::nullopt;
  }
  limit_.advance(now);
  if (auto message = take_test()) {
    return message;
  }
  if (auto message = take_partial(now)) {
    return message;
  }
  if (auto message = take_summary(now)) {
    return message;
  }
  return take_group(now, settled);
}

OutgoingMessage ChannelQueue::start(std::vector<Member> members, OutgoingMessage message) {
  message.channel = channel_;
  message.notifications.clear();
  for (const Member& member : members) {
    message.notifications.push_back(member.notification);
  }
  flight_ = Flight{.message = message, .members = std::move(members)};
  return message;
}

std::optional<OutgoingMessage> ChannelQueue::take_test() {
  if (tests_.empty()) {
    return std::nullopt;
  }
  std::vector<Member> members{std::move(tests_.front())};
  tests_.erase(tests_.begin());
  return start(std::move(members), {});
}

std::optional<OutgoingMessage> ChannelQueue::take_partial(WallTime now) {
  const auto ready = std::ranges::find_if(
      partials_, [&](const Partial& partial) { return partial.retry_at <= now; });
  if (ready == partials_.end()) {
    return std::nullopt;
  }
  Partial partial = std::move(*ready);
  partials_.erase(ready);
  return start(std::move(partial.members), std::move(partial.message));
}

std::optional<OutgoingMessage> ChannelQueue::take_summary(WallTime now) {
  if (held_.empty() || !limit_.has_room(per_hour_max()) || summary_retry_at_.value_or(now) > now) {
    return std::nullopt;
  }
  summary_retry_at_.reset();
  // Owners and contacts must not hear about each other.
  const Audience audience = audience_of(held_.front().notification);
  const auto others = std::ranges::stable_partition(
      held_, [&](const Member& member) { return audience_of(member.notification) == audience; });
  std::vector<Member> summed{std::make_move_iterator(held_.begin()),
                             std::make_move_iterator(others.begin())};
  held_.erase(held_.begin(), others.begin());
  return start(std::move(summed),
               {.channel = nullptr, .notifications = {}, .is_summary = true, .surplus = surplus_});
}

std::vector<ChannelQueue::Member> ChannelQueue::take_ready(Group& group, WallTime now,
                                                           NotificationOutcomes& settled) {
  std::vector<Member> ready;
  std::vector<Member> rest;
  for (Member& member : group.members) {
    const Notification& notification = member.notification;
    if (member.not_before > now) {
      rest.push_back(std::move(member));
    } else if (is_resolved(notification) && !told_.contains(*notification.alert_id)) {
      hold_back(notification, "Its alert was not told.", settled);
    } else {
      ready.push_back(std::move(member));
    }
  }
  group.members = std::move(rest);
  return ready;
}

std::optional<OutgoingMessage> ChannelQueue::take_group(WallTime now,
                                                        NotificationOutcomes& settled) {
  for (auto each = groups_.begin(); each != groups_.end();) {
    const auto group = each++;
    const std::optional<WallTime> due = due_of(group->second);
    if (!due || *due > now) {
      continue;
    }
    std::vector<Member> ready = take_ready(group->second, now, settled);
    if (group->second.members.empty()) {
      groups_.erase(group);
    }
    if (ready.empty()) {
      continue;
    }
    if (!limit_.has_room(per_hour_max())) {
      std::ranges::move(ready, std::back_inserter(held_));
      continue;
    }
    OutgoingMessage message{.channel = nullptr, .notifications = {}, .surplus = surplus_};
    MessageLimit then = limit_;
    then.sent(now);
    if (!then.has_room(per_hour_max())) {
      message.summary_at = then.room_at(per_hour_max());
    }
    return start(std::move(ready), std::move(message));
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- finishing

void ChannelQueue::finish(const SendResult& result, WallTime now, NotificationOutcomes& settled) {
  POSTRIDER_ASSERT(flight_.has_value());
  Flight flight = *std::exchange(flight_, std::nullopt);
  if (result.verdict == SendVerdict::sent) {
    finish_sent(flight, result, now, settled);
  } else if (flight.handed_over) {
    finish_handed_over(flight, now);
  } else {
    finish_failed(std::move(flight), result, now, settled);
  }
}

void ChannelQueue::finish_sent(const Flight& flight, const SendResult& result, WallTime now,
                               NotificationOutcomes& settled) {
  failures_in_row_ = 0;
  failing_ = false;
  bool is_test = false;
  for (const Member& member : flight.members) {
    const Notification& notification = member.notification;
    is_test = is_test || notification.transition == NotificationTransition::test;
    settled.push_back({.id = notification.id,
                       .state = flight.message.is_summary ? NotificationState::held_back
                                                          : NotificationState::sent,
                       .attempts = notification.attempts + 1,
                       .last_error = result.reason,
                       .sent_at = result.at,
                       .next_attempt_at = std::nullopt,
                       .message_id = result.message_id,
                       .event_id = result.event_id});
    if (!flight.message.is_summary) {
      note_told(notification, now);
    } else if (is_resolved(notification) && notification.alert_id) {
      told_.erase(*notification.alert_id);
    }
    release(notification, now);
  }
  surplus_ -= std::min(surplus_, flight.message.surplus);
  if (!is_test) {
    limit_.sent(now);
  }
}

void ChannelQueue::note_told(const Notification& notification, WallTime now) {
  if (notification.kind.what != NotificationKind::What::alert || !notification.alert_id) {
    return;
  }
  if (is_resolved(notification)) {
    told_.erase(*notification.alert_id);
    return;
  }
  if (channel_->send_resolved && !ends_silently(notification.kind.alert)) {
    told_.insert(*notification.alert_id);
  }
  damper_.told(subject_of(notification), now, channel_->group_window);
}

/// The resolution that waits for this alert can be judged.
void ChannelQueue::release(const Notification& raised, WallTime now) {
  if (!is_raised(raised) || !raised.alert_id) {
    return;
  }
  for (auto& [key, group] : groups_) {
    for (Member& member : group.members) {
      if (is_resolved(member.notification) && member.notification.alert_id == raised.alert_id) {
        member.not_before = now;
      }
    }
  }
}

void ChannelQueue::finish_failed(Flight flight, const SendResult& result, WallTime now,
                                 NotificationOutcomes& settled) {
  last_error_ = result.reason;
  const std::uint32_t tried = flight.members.front().notification.attempts;
  const Millis pause = grown({.base = send_pause_min, .factor = 2.0, .max = send_pause_max}, tried);
  const WallTime retry_at = later(now, pause);
  std::vector<Member> kept;
  bool is_test = false;
  for (Member& member : flight.members) {
    Notification& notification = member.notification;
    ++notification.attempts;
    is_test = notification.transition == NotificationTransition::test;
    const bool over = is_test || result.verdict == SendVerdict::refused ||
                      now - member.since >= send_give_up_after;
    settled.push_back({.id = notification.id,
                       .state = over ? NotificationState::failed : NotificationState::waiting,
                       .attempts = notification.attempts,
                       .last_error = result.reason,
                       .sent_at = std::nullopt,
                       .next_attempt_at = over ? std::nullopt : std::optional{retry_at}});
    if (over) {
      failing_ = failing_ || !is_test;
      if (is_resolved(notification)) {
        told_.erase(*notification.alert_id);
      }
      release(notification, now);
    } else {
      kept.push_back(std::move(member));
    }
  }
  if (!is_test) {
    failing_ = failing_ || ++failures_in_row_ >= send_failures_alarming;
  }
  flight.members = std::move(kept);
  if (!flight.members.empty()) {
    put_back(std::move(flight), result, retry_at);
  }
}

void ChannelQueue::finish_handed_over(const Flight& flight, WallTime now) {
  for (const Member& member : flight.members) {
    release(member.notification, now);
  }
}

void ChannelQueue::put_back(Flight flight, const SendResult& result, WallTime retry_at) {
  const bool unreachable = result.verdict == SendVerdict::unreachable;
  if (!result.done.empty()) {
    flight.message.done = result.done;
    partials_.push_back({.message = std::move(flight.message),
                         .members = std::move(flight.members),
                         .retry_at = retry_at,
                         .unreachable = unreachable});
    return;
  }
  if (flight.message.is_summary) {
    std::ranges::move(held_, std::back_inserter(flight.members));
    held_ = std::move(flight.members);
    summary_retry_at_ = retry_at;
    return;
  }
  Group& group = groups_[key_of(flight.members.front().notification)];
  if (group.members.empty()) {
    group.window_end = flight.members.front().since;
  }
  group.retry_at = retry_at;
  group.unreachable = unreachable;
  std::ranges::move(group.members, std::back_inserter(flight.members));
  group.members = std::move(flight.members);
}

void ChannelQueue::retry_unreachable(WallTime now) {
  for (auto& [key, group] : groups_) {
    if (group.retry_at && group.unreachable) {
      group.retry_at = now;
      group.window_end = std::min(group.window_end, now);
    }
  }
  for (Partial& partial : partials_) {
    if (partial.unreachable) {
      partial.retry_at = now;
    }
  }
}

}  // namespace postrider
