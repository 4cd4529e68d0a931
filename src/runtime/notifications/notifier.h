// Sends notifications on a thread of its own, so that a mail server that hangs delays nothing else.
// NotificationSchedule decides what is sent when; MessageSender sends it.
//
// What is given to it is stored by somebody else (UnwrittenAlerts); what becomes of it is handed
// back to be stored. After a crash, what was not stored as settled is sent again: at least once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "core/model/notification.h"
#include "engine/notify/failing_channels.h"
#include "engine/notify/notification_schedule.h"
#include "ports/clock.h"
#include "ports/mailer.h"
#include "ports/metric_sample.h"

#include "runtime/notifications/message_sender.h"
#include "runtime/observability/alert_sink.h"

namespace postrider {

/// What the last run or another server left.
struct NotificationsBefore {
  struct Told {
    ChannelId channel_id;
    AlertId alert_id;
  };
  struct Sent {
    ChannelId channel_id;
    WallTime at;  // Wall time.
  };
  std::vector<Notification> waiting;
  std::vector<Told> told;     // Of alerts that are active, or whose resolution waits.
  std::vector<Sent> sent;     // Messages within the last hour.
  std::vector<Alert> alerts;  // The active ones.
  /// Those among them that were raised while opening the store, when nobody could be told.
  std::vector<Alert> untold = {};
};

class Notifier {
 public:
  /// All of them must be callable and outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    std::unique_ptr<Mailer> mailer;  // Null: no mail server is configured.
    std::function<std::shared_ptr<const ChannelDirectory>()> channels;
    std::function<void(NotificationOutcomes)> settle;
    AlertSink* alerts = nullptr;
  };

  /// `sender_parts.mailer` is ignored.
  Notifier(NotificationOptions options, Parts parts, MessageSender::Parts sender_parts);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  /// Before start().
  void restore(NotificationsBefore before);
  /// Starts the thread. Call once.
  void start();
  /// Ends a mail that is being sent, and joins the thread. What is not sent waits in the store.
  void stop();

  // Any thread.

  /// More than can wait are held back at once.
  void submit(std::vector<Notification> notifications);
  /// The same for a test. `done` is called once with what became of it, on any thread; or never, if
  /// the server stops.
  void submit_test(Notification test, std::function<void(NotificationOutcome)> done);
  /// Another server continues. Forgets everything but tests and messages that are being sent.
  void hand_over();
  /// This server continues after another one, or again. Call after hand_over(), if it has sent
  /// anything before. All that was settled before hand_over() must be stored already.
  void take_over(NotificationsBefore before);
  [[nodiscard]] std::set<ChannelId> failing() const;
  [[nodiscard]] std::vector<MetricSample> samples() const;

  /// One round of the thread's loop: sends all that is due. Returns when the next is due. For the
  /// thread and for tests without one.
  std::optional<WallTime> work();

 private:
  void run();
  void take_submitted();
  void note_settled(const std::vector<NotificationId>& ids);
  void send_due();
  void hand_over_settled();
  void update_failing();
  void update_counts();
  [[nodiscard]] bool is_stopping() const;

  Parts parts_;
  MessageSender sender_;

  mutable std::mutex mutex_;  // Guards the eleven below.
  std::condition_variable wake_;
  std::vector<Notification> submitted_;
  bool must_hand_over_ = false;
  std::optional<NotificationsBefore> taken_over_;
  bool is_handed_over_ = false;
  std::set<NotificationId> settled_since_;  // Since hand_over(), by messages that were being sent.
  std::map<NotificationId, std::function<void(NotificationOutcome)>> tests_;
  std::set<ChannelId> failing_;
  NotificationTally tally_;
  std::size_t waiting_ = 0;
  bool stopping_ = false;

  // Notifier thread only.
  NotificationSchedule schedule_;
  FailingChannels rules_;

  std::thread thread_;
};

}  // namespace postrider
