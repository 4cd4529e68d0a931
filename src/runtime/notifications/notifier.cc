#include "runtime/notifications/notifier.h"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// Also bounds how long a change of a channel takes to be noticed.
constexpr Millis wait_max{1'000};

/// The label of the metric. `waiting`: an attempt has failed and another follows.
std::string_view outcome_name(NotificationState state) {
  return state == NotificationState::waiting ? "retried" : to_string(state);
}

MessageSender::Parts with_mailer(MessageSender::Parts parts, Mailer* mailer) {
  parts.mailer = mailer;
  return parts;
}

void log_result(const OutgoingMessage& message, const SendResult& result) {
  const std::string id = message.channel->id.to_string();
  const std::string_view channel_kind = to_string(message.channel->kind);
  const std::string_view kind = to_string(message.notifications.front().kind);
  const std::size_t count = message.notifications.size();
  if (result.verdict == SendVerdict::sent) {
    spdlog::info("notification.sent channel={} channel_kind={} kind={} count={}", id, channel_kind,
                 kind, count);
  } else {
    spdlog::warn("notification.not_sent channel={} channel_kind={} kind={} count={} reason=\"{}\"",
                 id, channel_kind, kind, count, log_safe(result.reason));
  }
}

}  // namespace

Notifier::Notifier(NotificationOptions options, Parts parts, MessageSender::Parts sender_parts)
    : parts_(std::move(parts)),
      sender_(std::move(options), with_mailer(std::move(sender_parts), parts_.mailer.get())),
      schedule_(parts_.channels()) {}

Notifier::~Notifier() { stop(); }

void Notifier::restore(NotificationsBefore before) {
  const Moment now = parts_.clock->now();
  for (const NotificationsBefore::Told& told : before.told) {
    schedule_.remember_told(told.channel_id, told.alert_id);
  }
  for (const NotificationsBefore::Sent& sent : before.sent) {
    schedule_.remember_sent(sent.channel_id, now.steady - std::max(now.wall - sent.at, Millis{0}));
  }
  for (Notification& notification : before.waiting) {
    schedule_.restore(std::move(notification), now.steady);
  }
  for (const Alert& alert : before.alerts) {
    rules_.restore(alert);
  }
}

void Notifier::start() {
  thread_ = std::thread{[this] { run(); }};
}

void Notifier::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (parts_.mailer) {
    parts_.mailer->stop();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Notifier::submit(std::vector<Notification> notifications) {
  if (notifications.empty()) {
    return;
  }
  NotificationOutcomes surplus;
  {
    const std::lock_guard lock{mutex_};
    for (Notification& notification : notifications) {
      if (submitted_.size() < waiting_total_max) {
        submitted_.push_back(std::move(notification));
      } else {
        surplus.push_back({.id = notification.id,
                           .state = NotificationState::held_back,
                           .attempts = 0,
                           .last_error = "Too many notifications wait."});
      }
    }
  }
  if (!surplus.empty()) {
    parts_.settle(std::move(surplus));
  }
  wake_.notify_all();
}

void Notifier::submit_test(Notification test, std::function<void(NotificationOutcome)> done) {
  {
    const std::lock_guard lock{mutex_};
    tests_.emplace(test.id, std::move(done));
    submitted_.push_back(std::move(test));
  }
  wake_.notify_all();
}

void Notifier::hand_over() {
  const std::lock_guard lock{mutex_};
  std::erase_if(submitted_, [](const Notification& each) {
    return each.transition != NotificationTransition::test;
  });
  taken_over_.reset();
  must_hand_over_ = true;
  is_handed_over_ = true;
}

void Notifier::take_over(NotificationsBefore before) {
  {
    const std::lock_guard lock{mutex_};
    taken_over_ = std::move(before);
  }
  wake_.notify_all();
}

std::set<ChannelId> Notifier::failing() const {
  const std::lock_guard lock{mutex_};
  return failing_;
}

std::vector<MetricSample> Notifier::samples() const {
  const std::lock_guard lock{mutex_};
  std::vector<MetricSample> samples;
  for (std::size_t kind = 0; kind < channel_kinds.names.size(); ++kind) {
    for (std::size_t state = 0; state < notification_states.names.size(); ++state) {
      const std::pair key{static_cast<ChannelKind>(kind), static_cast<NotificationState>(state)};
      const auto counted = tally_.find(key);
      samples.push_back(
          {.name = "postrider_notifications_total",
           .help = "Notifications by the kind of their channel and what became of them. retried "
                   "counts failed attempts.",
           .is_total = true,
           .labels = {{"channel_kind", std::string{to_string(key.first)}},
                      {"outcome", std::string{outcome_name(key.second)}}},
           .value = counted == tally_.end() ? 0.0 : static_cast<double>(counted->second)});
    }
  }
  samples.push_back({.name = "postrider_notifications_waiting",
                     .help = "Notifications that are still to be sent.",
                     .is_total = false,
                     .labels = {},
                     .value = static_cast<double>(waiting_)});
  return samples;
}

void Notifier::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    lock.unlock();
    const std::optional<WallTime> next = work();
    const WallTime now = parts_.clock->now().steady;
    const Millis pause = next ? std::clamp(*next - now, Millis{0}, wait_max) : wait_max;
    lock.lock();
    wake_.wait_for(lock, pause, [this] { return stopping_ || taken_over_ || !submitted_.empty(); });
  }
}

std::optional<WallTime> Notifier::work() {
  take_submitted();
  send_due();
  hand_over_settled();
  update_failing();
  update_counts();
  return schedule_.wake_at();
}

void Notifier::take_submitted() {
  std::vector<Notification> submitted;
  bool hands_over = false;
  std::optional<NotificationsBefore> taken_over;
  {
    const std::lock_guard lock{mutex_};
    submitted.swap(submitted_);
    hands_over = std::exchange(must_hand_over_, false);
    taken_over = std::exchange(taken_over_, std::nullopt);
    if (taken_over) {
      // Their outcomes may not have been stored when these were loaded.
      std::erase_if(taken_over->waiting,
                    [this](const Notification& each) { return settled_since_.contains(each.id); });
      settled_since_.clear();
      is_handed_over_ = false;
    }
  }
  if (hands_over) {
    schedule_.hand_over();
    rules_ = {};
  }
  schedule_.change(parts_.channels());  // At least as new as what was submitted.
  if (taken_over) {
    restore(*std::move(taken_over));
  }
  const WallTime now = parts_.clock->now().steady;
  for (Notification& notification : submitted) {
    schedule_.add(std::move(notification), now);
  }
}

void Notifier::update_counts() {
  const std::lock_guard lock{mutex_};
  tally_ = schedule_.tally();
  waiting_ = schedule_.waiting();
}

bool Notifier::is_stopping() const {
  const std::lock_guard lock{mutex_};
  return stopping_;
}

void Notifier::send_due() {
  while (const std::optional<OutgoingMessage> message =
             schedule_.next(parts_.clock->now().steady)) {
    const NotificationChannel& channel = *message->channel;
    const SendResult result = sender_.send(*message);
    if (result.verdict != SendVerdict::sent && is_stopping()) {
      return;  // Nobody is to blame. It is sent after the next start.
    }
    log_result(*message, result);
    if (result.verdict == SendVerdict::sent) {
      rules_.sent(channel);
    }
    schedule_.finish(channel.id, result, parts_.clock->now().steady);
    hand_over_settled();
    update_failing();
    take_submitted();
    update_counts();
    if (is_stopping()) {
      return;
    }
  }
}

void Notifier::hand_over_settled() {
  NotificationOutcomes settled = schedule_.take_settled();
  if (settled.empty()) {
    return;
  }
  std::vector<std::pair<std::function<void(NotificationOutcome)>, NotificationOutcome>> tests;
  {
    const std::lock_guard lock{mutex_};
    for (const NotificationOutcome& outcome : settled) {
      const auto test = tests_.find(outcome.id);
      if (test != tests_.end()) {
        tests.emplace_back(std::move(test->second), outcome);
        tests_.erase(test);
      }
    }
  }
  std::vector<NotificationId> ids;
  for (const NotificationOutcome& outcome : settled) {
    if (outcome.state != NotificationState::waiting) {
      ids.push_back(outcome.id);
    }
  }
  parts_.settle(std::move(settled));
  note_settled(ids);
  for (auto& [done, outcome] : tests) {
    done(std::move(outcome));
  }
}

void Notifier::note_settled(const std::vector<NotificationId>& ids) {
  const std::lock_guard lock{mutex_};
  if (is_handed_over_) {
    settled_since_.insert(ids.begin(), ids.end());
  }
}

void Notifier::update_failing() {
  std::map<ChannelId, std::string> errors;
  const std::set<ChannelId> failing = schedule_.failing();
  for (const ChannelId id : failing) {
    errors.emplace(id, schedule_.last_error(id));
  }
  {
    const std::lock_guard lock{mutex_};
    failing_ = failing;
    if (must_hand_over_) {
      return;  // The alert is another server's.
    }
  }
  for (const AlertChange& change : rules_.evaluate(*parts_.channels(), errors)) {
    parts_.alerts->on_alert_change(change);
  }
}

}  // namespace postrider
