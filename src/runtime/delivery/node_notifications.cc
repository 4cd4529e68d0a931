#include <algorithm>
#include <future>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/intake/intake.h"

#include "runtime/delivery/running_node.h"
#include "runtime/store/outdated_publish.h"

namespace postrider {
namespace {

// How long a test waits for its outcome: longer than a mail server usually takes, shorter than
// clients wait for an answer.
constexpr std::chrono::seconds test_wait_max{15};

// Two reports of one end are close together.
constexpr std::size_t told_operations_max = 1'000;

}  // namespace

void RunningNode::make_notifier(std::unique_ptr<Mailer> mailer) {
  const auto channels = [this] { return changes_.channels(); };
  const auto webhooks = [this] { return changes_.directory(); };
  const auto access = [this] { return changes_.access(); };
  const auto uuid = [this] { return new_uuid(); };
  notifier_ = std::make_unique<Notifier>(
      options_.notifications,
      Notifier::Parts{
          .clock = clock_.get(),
          .mailer = std::move(mailer),
          .channels = channels,
          .settle =
              [this](NotificationOutcomes outcomes) { settle_notifications(std::move(outcomes)); },
          .alerts = housekeeping_.get()},
      MessageSender::Parts{.clock = clock_.get(),
                           .mailer = nullptr,
                           .new_uuid = uuid,
                           .webhooks = webhooks,
                           .access = access,
                           .publish = [this](Event event, WebhookId id) {
                             return publish_notification(std::move(event), id);
                           }});
  if (cluster_) {
    shared_notifications_ = std::make_unique<SharedNotifications>(SharedNotifications::Parts{
        .clock = clock_.get(),
        .store = store_.get(),
        .readers = readers_.get(),
        .notifier = notifier_.get(),
        .unwritten = unwritten_alerts_.get(),
        .take_over = [this](const Alert& alert) { housekeeping_->take_over(alert); }});
  }
  notification_maker_ = std::make_unique<NotificationMaker>(
      NotificationMaker::Parts{.new_uuid = uuid,
                               .channels = channels,
                               .webhooks = webhooks,
                               .access = access,
                               .failing = [this] { return notifier_->failing(); }});
}

void RunningNode::load_notifications(NotificationsBefore before) {
  for (const Alert& alert : before.untold) {
    unwritten_alerts_->notify(notify_alert(alert, NotificationTransition::raised));
  }
  if (!cluster_) {  // Otherwise the server that leads loads them.
    notifier_->restore(std::move(before));
  }
}

void RunningNode::submit_notifications(const std::vector<Notification>& made) {
  if (cluster_) {
    shared_notifications_->submit(made);
  } else {
    notifier_->submit(made);
  }
}

std::vector<Notification> RunningNode::notify_alert(const Alert& alert,
                                                    NotificationTransition transition) {
  std::vector<Notification> made =
      notification_maker_->of_alert(alert, transition, clock_->now().wall);
  submit_notifications(made);
  return made;
}

void RunningNode::notify_operation(const Operation& operation) {
  const std::vector<Notification> made =
      notification_maker_->of_operation(operation, clock_->now().wall);
  if (made.empty() || std::ranges::count(told_operations_, operation.id) > 0) {
    return;
  }
  told_operations_.push_back(operation.id);
  if (told_operations_.size() > told_operations_max) {
    told_operations_.pop_front();
  }
  submit_notifications(made);
  unwritten_alerts_->notify(made);
  settle_notifications({});
}

void RunningNode::examine_operations(const OutcomeChanges& outcomes) {
  if (outcomes.empty() || !leader_.is_set()) {
    return;  // The server that leads learns of it by the catalogue.
  }
  std::vector<OperationId> ids;
  for (const auto& [id, change] : outcomes) {
    ids.push_back(id);
  }
  store_->submit(StoreTask{[this, ids](Store& store, RepliesByShard&) -> Result<void> {
    for (const OperationId id : ids) {
      if (const Result<Operation> operation = store.operations->find(id)) {
        notify_operation(*operation);
      }
    }
    return {};
  }});
}

void RunningNode::settle_notifications(NotificationOutcomes outcomes) {
  store_->submit(StoreTask{[this, outcomes = std::move(outcomes)](Store& store, RepliesByShard&) {
    unwritten_alerts_->settle(outcomes);
    return unwritten_alerts_->write(store);
  }});
}

Result<void> RunningNode::publish_notification(Event event, WebhookId webhook_id) {
  using Receipts = Result<std::vector<PublishReceipt>>;
  for (int tries = 0; tries < publish_tries_max; ++tries) {
    std::vector<Publish> publishes(1);
    publishes.front().event = event;
    publishes.front().only_to = webhook_id;
    PublishPlanner planner{changes_.directory(), std::move(publishes)};
    while (!planner.advance(planning_effort_max)) {
    }
    PublishJob job{.publishes = {}, .origin = 0, .done = {}};
    {
      const std::lock_guard lock{ids_mutex_};
      job.publishes = std::move(planner).finish(ids_, clock_->now().steady);
    }
    if (job.publishes.front().deliveries.empty()) {
      return fail(Errc::unavailable, "The webhook of the channel is gone.");
    }
    auto stored = std::make_shared<std::promise<Receipts>>();
    std::future<Receipts> pending = stored->get_future();
    // Only the job owns the promise: if it is dropped, the wait ends.
    job.done = [stored = std::move(stored)](Receipts done) { stored->set_value(std::move(done)); };
    if (!store_->try_publish(std::move(job))) {
      return fail(Errc::unavailable, "The server's queue is full.");
    }
    try {
      const Receipts receipts = pending.get();
      if (!receipts || !std::holds_alternative<Outdated>(receipts->front())) {
        return receipts.map([](const std::vector<PublishReceipt>&) {});
      }
    } catch (const std::future_error&) {
      return fail(Errc::unavailable, "The server is shutting down.");
    }
  }
  return fail(Errc::unavailable, "The webhooks are changing too fast.");
}

Awaitable<Result<Notification>> RunningNode::send_test_notification(Notification test,
                                                                    AuditEntry entry,
                                                                    std::optional<RequestKey> key) {
  auto storing = AdminService::send_test_notification(test, std::move(entry), std::move(key));
  Result<Notification> stored = co_await std::move(storing);
  if (!stored) {
    co_return stored;
  }
  struct Waiting {
    boost::asio::steady_timer timer;
    std::optional<NotificationOutcome> outcome;
  };
  boost::asio::io_context& io = workers_[origin()]->io();
  auto waiting = std::make_shared<Waiting>(Waiting{boost::asio::steady_timer{io}, std::nullopt});
  waiting->timer.expires_after(test_wait_max);
  notifier_->submit_test(test, [waiting, &io](NotificationOutcome outcome) {
    boost::asio::post(io, [waiting, outcome = std::move(outcome)] {
      waiting->outcome = outcome;
      waiting->timer.cancel();
    });
  });
  auto pause = waiting->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  (void)co_await std::move(pause);
  if (waiting->outcome) {
    const NotificationOutcome& outcome = *waiting->outcome;
    stored->state = outcome.state;
    stored->attempts = outcome.attempts;
    stored->last_error = outcome.last_error;
    stored->sent_at = outcome.sent_at;
    stored->next_attempt_at = outcome.next_attempt_at;
    stored->message_id = outcome.message_id;
    stored->event_id = outcome.event_id;
  }
  co_return stored;
}

}  // namespace postrider
