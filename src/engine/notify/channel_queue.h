// What one notification channel owes, and what is sent when:
//
// - Notifications of one kind, transition and audience that come within the channel's window are
//   one message.
// - An alert that is raised and resolved within the window is not told, nor is one that is resolved
//   and raised again. A subject that keeps changing is told at doubling intervals.
// - A resolution is told only if its alert was told, and after it.
// - After `per_hour_max` messages within an hour, further ones are held back until one more may be
//   sent; that one is a summary of them.
// - A failed message is tried again with growing pauses for a day.
//
// Pure. Single-threaded. All times are steady wall times unless noted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/notification.h"
#include "engine/notify/flap_damper.h"
#include "engine/notify/message_limit.h"
#include "engine/notify/outgoing_message.h"

namespace postrider {

using NotificationOutcomes = std::vector<NotificationOutcome>;

constexpr Millis send_pause_min = std::chrono::minutes{1};
constexpr Millis send_pause_max = std::chrono::hours{1};
constexpr Millis send_give_up_after = std::chrono::hours{24};
/// Failures in a row after which the channel counts as failing.
constexpr std::uint32_t send_failures_alarming = 3;
/// Bounds the memory of a channel whose messages cannot be sent. Further notifications are held
/// back.
constexpr std::size_t waiting_per_channel_max = 1'000;

class ChannelQueue {
 public:
  explicit ChannelQueue(ChannelRef channel) : channel_(std::move(channel)) {}

  /// The channel has been changed.
  void change(ChannelRef channel) { channel_ = std::move(channel); }

  /// At startup, or after another server: the raising of the alert was told; a message was sent.
  void remember_told(AlertId id) { told_.insert(id); }
  void remember_sent(WallTime at) { limit_.sent(at); }

  // `settled` gets what is settled without being sent.

  void add(Notification notification, WallTime now, NotificationOutcomes& settled);
  /// The same for one that was made before the start, or that another server has not sent.
  void restore(Notification notification, WallTime now, NotificationOutcomes& settled);
  /// Settles all that waits as held back.
  void hold_back_all(const std::string& reason, NotificationOutcomes& settled);
  /// Another server continues. Forgets what waits, except tests, and what was told and sent. A
  /// message that is being sent is not tried again, unless it is restored.
  void hand_over();

  /// When `take` is to be called. nullopt: not before something is added or finished.
  [[nodiscard]] std::optional<WallTime> due() const;
  [[nodiscard]] bool has_test() const { return !tests_.empty(); }
  [[nodiscard]] bool is_sending() const { return flight_.has_value(); }
  /// The next message, if one is due. There is no other until `finish`.
  [[nodiscard]] std::optional<OutgoingMessage> take(WallTime now, NotificationOutcomes& settled);
  void finish(const SendResult& result, WallTime now, NotificationOutcomes& settled);

  /// The server that refused messages works again.
  void retry_unreachable(WallTime now);

  /// True from when messages fail until one is sent.
  [[nodiscard]] bool is_failing() const { return failing_; }
  [[nodiscard]] const std::string& last_error() const { return last_error_; }
  [[nodiscard]] std::size_t waiting() const;
  /// True if it can be forgotten.
  [[nodiscard]] bool is_idle(WallTime now) const;

 private:
  /// Who else than the channel's own recipients is told.
  struct Audience {
    std::optional<TenantId> tenant_id;       // Only if its contacts or the owner are told.
    std::optional<std::string> owner_email;  // Only if the owner is told.

    auto operator<=>(const Audience&) const = default;
  };
  /// Notifications with equal keys can share a message.
  struct GroupKey {
    NotificationKind kind;
    NotificationTransition transition = NotificationTransition::raised;
    Audience audience;

    auto operator<=>(const GroupKey&) const = default;
  };
  struct Member {
    Notification notification;
    WallTime since;       // When it was added or, before a restart, made.
    WallTime not_before;  // wall_time_max: until its alert has been told.
  };
  struct Group {
    std::vector<Member> members;
    WallTime window_end;
    std::optional<WallTime> retry_at;
    bool unreachable = false;  // Why it is tried again.
  };
  /// A message that some recipients have.
  struct Partial {
    OutgoingMessage message;
    std::vector<Member> members;
    WallTime retry_at;
    bool unreachable = false;
  };
  struct Flight {
    OutgoingMessage message;
    std::vector<Member> members;
    bool handed_over = false;  // If it fails, another server tries again.
  };

  [[nodiscard]] Audience audience_of(const Notification& notification) const;
  [[nodiscard]] GroupKey key_of(const Notification& notification) const;
  [[nodiscard]] static std::optional<WallTime> due_of(const Group& group);
  [[nodiscard]] std::size_t per_hour_max() const {
    return std::max<std::size_t>(channel_->per_hour_max, 1);
  }

  void add(Member member, WallTime now, NotificationOutcomes& settled);
  void add_raised(Member member, WallTime now, NotificationOutcomes& settled);
  void add_resolved(Member member, WallTime now, NotificationOutcomes& settled);
  void add_to_group(Member member, WallTime now);
  /// A resolution that is not told ends what the readers know of its alert.
  void hold_back(const Notification& notification, std::string reason,
                 NotificationOutcomes& settled);
  /// Removes a member that no attempt was made for.
  template <class Fits>
  [[nodiscard]] std::optional<Member> remove_untried(Fits fits);
  [[nodiscard]] bool waits(AlertId raised) const;

  [[nodiscard]] std::vector<Member> take_ready(Group& group, WallTime now,
                                               NotificationOutcomes& settled);
  [[nodiscard]] OutgoingMessage start(std::vector<Member> members, OutgoingMessage message);
  [[nodiscard]] std::optional<OutgoingMessage> take_test();
  [[nodiscard]] std::optional<OutgoingMessage> take_partial(WallTime now);
  [[nodiscard]] std::optional<OutgoingMessage> take_summary(WallTime now);
  [[nodiscard]] std::optional<OutgoingMessage> take_group(WallTime now,
                                                          NotificationOutcomes& settled);

  void finish_sent(const Flight& flight, const SendResult& result, WallTime now,
                   NotificationOutcomes& settled);
  void finish_failed(Flight flight, const SendResult& result, WallTime now,
                     NotificationOutcomes& settled);
  void finish_handed_over(const Flight& flight, WallTime now);
  void put_back(Flight flight, const SendResult& result, WallTime retry_at);
  void note_told(const Notification& notification, WallTime now);
  void release(const Notification& raised, WallTime now);

  ChannelRef channel_;
  std::map<GroupKey, Group> groups_;
  std::vector<Member> tests_;
  std::vector<Partial> partials_;
  std::vector<Member> held_;  // Wait for the summary.
  std::optional<WallTime> summary_retry_at_;
  std::uint64_t surplus_ = 0;
  std::set<AlertId> told_;  // Active alerts whose raising was told.
  MessageLimit limit_;
  FlapDamper damper_;
  std::optional<Flight> flight_;
  std::uint32_t failures_in_row_ = 0;
  bool failing_ = false;
  std::string last_error_;
};

}  // namespace postrider
