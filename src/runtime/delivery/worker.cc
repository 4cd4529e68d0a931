#include "runtime/delivery/worker.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "core/base/assert.h"

#include "runtime/store/outdated_publish.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

thread_local Worker* current_worker = nullptr;

}  // namespace

Worker::Worker(ShardHostOptions options, WorkerParts parts)
    : index_(options.index),
      options_(std::move(options)),
      parts_(std::move(parts)),
      work_(asio::make_work_guard(io_)),
      alarm_(io_),
      planning_turns_(io_) {}

Worker::~Worker() { stop(); }

Result<void> Worker::open() {
  POSTRIDER_TRY(transport_, parts_.make_transport(io_, parts_.clock));
  host_ =
      std::make_unique<ShardHost>(std::move(options_), ShardHostParts{.clock = parts_.clock,
                                                                      .allowance = parts_.allowance,
                                                                      .transport = *transport_,
                                                                      .store = *this,
                                                                      .loop = *this,
                                                                      .owner = parts_.owner,
                                                                      .metrics = parts_.metrics,
                                                                      .stream = parts_.stream,
                                                                      .make_sign = parts_.make_sign,
                                                                      .tracer = parts_.tracer,
                                                                      .permit = parts_.permit});
  return {};
}

void Worker::start() {
  POSTRIDER_ASSERT(host_ != nullptr);
  thread_ = std::thread{[this] {
    current_worker = this;
    io_.run();
  }};
}

void Worker::stop() {
  io_.stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Worker* Worker::current() { return current_worker; }

void Worker::receive(ShardReplies replies) {
  asio::post(
      io_, [this, replies = std::move(replies)]() mutable { host_->receive(std::move(replies)); });
}

void Worker::feed_later(Input input) {
  asio::post(io_, [this, input = std::move(input)]() mutable { host_->feed(std::move(input)); });
}

void Worker::abandon() {
  asio::post(io_, [this] { host_->abandon(); });
}

void Worker::run_on_shard(std::function<void(Shard&, Moment)> act) {
  asio::post(io_, [this, act = std::move(act)] { act(host_->shard(), parts_.clock.now()); });
}

void Worker::change_url_policy(UrlPolicy policy) {
  asio::post(io_, [this, policy = std::move(policy)]() mutable {
    host_->change_url_policy(std::move(policy));
  });
}

void Worker::send_test(TestSend test) {
  asio::post(io_, [this, test = std::move(test)]() mutable {
    const Delivery& delivery = test.publish.deliveries.front();
    host_->await_attempt({delivery.webhook_id, delivery.id}, test.patience, std::move(test.done));
    publish_test(std::make_shared<const Publish>(std::move(test.publish)), publish_tries_max);
  });
}

/// A test is for one webhook, so that a change of the catalogue does not change its plan.
void Worker::publish_test(std::shared_ptr<const Publish> publish, int tries_left) {
  const DeliveryId id = publish->deliveries.front().id;
  PublishJob job{.publishes = {*publish}, .origin = index_, .done = {}};
  job.done = [this, id, publish = std::move(publish),
              tries_left](const Result<std::vector<PublishReceipt>>& receipts) {
    if (!receipts) {
      host_->fail_waiter(id, receipts.error());
    } else if (std::holds_alternative<Outdated>(receipts->front()) && tries_left > 1) {
      publish_test(publish, tries_left - 1);
    } else if (std::holds_alternative<Outdated>(receipts->front())) {
      host_->fail_waiter(id, Error{Errc::unavailable, "The webhooks are changing. Retry soon."});
    }
  };
  if (!parts_.store.try_publish(std::move(job))) {
    host_->fail_waiter(id, Error{Errc::unavailable, "The server's queue is full. Retry soon."});
  }
}

void Worker::check_alerts() {
  asio::post(io_, [this] { host_->check_alerts(); });
}

void Worker::change_alert_limits(const AlertLimits& limits) {
  asio::post(io_, [this, limits] { host_->change_alert_limits(limits); });
}

void Worker::restore_alert_later(const Alert& alert) {
  asio::post(io_, [this, alert] { host_->restore_alert(alert); });
}

void Worker::settle(std::vector<Settlement> settlements) {
  parts_.store.submit(SettleJob{.worker = index_, .settlements = std::move(settlements)});
}

void Worker::save_circuit(SaveCircuit save) { parts_.store.submit(CircuitJob{std::move(save)}); }

void Worker::load_lane(LoadLane query) {
  parts_.store.submit(LoadLaneJob{.worker = index_, .query = query});
}

void Worker::load_events(std::vector<EventId> ids,
                         std::function<void(Result<std::vector<Event>>)> done) {
  parts_.store.submit(
      LoadEventsJob{.worker = index_, .ids = std::move(ids), .done = std::move(done)});
}

void Worker::set_alarm(MonoTime at) {
  alarm_.expires_after(std::max(at - parts_.clock.now().mono, Micros{0}));
  alarm_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      host_->ring_alarm();
    }
  });
}

void Worker::post(std::function<void()> task) { asio::post(io_, std::move(task)); }

}  // namespace postrider
