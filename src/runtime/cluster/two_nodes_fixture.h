// Two whole servers that share a store, in one process, with a manual clock.
#pragma once

#include <array>
#include <future>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include "tests/support/faulty_history.h"
#include "tests/support/node_fixture.h"
#include "tests/support/shared_memory_store.h"

namespace postrider::test {

constexpr Millis lease_length{3'000};

/// The mails of all nodes. Any thread.
class SharedMailbox {
 public:
  [[nodiscard]] std::unique_ptr<Mailer> open() { return std::make_unique<Port>(*this); }
  [[nodiscard]] std::vector<Mail> mails() const {
    const std::lock_guard lock{mutex_};
    return mails_;
  }

 private:
  class Port final : public Mailer {
   public:
    explicit Port(SharedMailbox& box) : box_(box) {}
    MailOutcome send(const Mail& mail) override {
      const std::lock_guard lock{box_.mutex_};
      box_.mails_.push_back(mail);
      return {};
    }
    void stop() override {}

   private:
    SharedMailbox& box_;
  };

  mutable std::mutex mutex_;
  std::vector<Mail> mails_;  // Guarded by mutex_.
};

class TwoNodesTest : public NodeFixture {
 protected:
  ~TwoNodesTest() override {
    for (std::unique_ptr<Node>& node : nodes_) {
      end(node);
    }
  }

  [[nodiscard]] static NodeId id_of(std::size_t number) {
    return NodeId{{static_cast<std::uint8_t>(number + 1)}};
  }
  [[nodiscard]] NodeParts make_parts(std::size_t number, const std::string& pool) {
    NodeParts parts = NodeFixture::make_parts();
    parts.mailer = mailbox_.open();
    parts.store = shared_.open(id_of(number), [this, number](const std::string& call) {
      if (call == "atomically") {
        has_changed_ = true;
      }
      if (call == "changes_since" && number == 1) {
        (void)eventually([this] { return !second_waits_; });
      }
      return away_[number] || (call == "count_waiting" && counting_fails_) ||
             (call == "changes_since" && fails_after_change_ && has_changed_);
    });
    parts.readers.clear();
    parts.readers.push_back(make_memory_reader(shared_.rows));
    parts.readers.front().history =
        std::make_unique<FaultyHistory>(std::move(parts.readers.front().history), counting_fails_);
    parts.cluster = {.leases = make_memory_leases(
                         shared_.leases, {.id = id_of(number), .pool = pool, .address = {}}),
                     .signals = signals_.open()};
    return parts;
  }
  void start(std::size_t number, const std::string& pool = {}) {
    NodeOptions options{
        .worker_count = 2, .seed = number + 1, .interactive_sends_max = interactive_sends_max_};
    options.lease = {.node = id_of(number),
                     .pool = pool,
                     .length = lease_length,
                     .margin = Millis{600},
                     .turn_pause = Millis{20}};
    Result<std::unique_ptr<Node>> node = make_node(options, make_parts(number, pool), {});
    ASSERT_TRUE(node) << node.error().message;
    nodes_[number] = *std::move(node);
    nodes_[number]->start();
  }
  static void end(std::unique_ptr<Node>& node) {
    if (node) {
      node->stop();
      node.reset();
    }
  }
  [[nodiscard]] Service& service(std::size_t number) { return nodes_[number]->service(); }
  template <class Call>
  auto ask(std::size_t number, Call call) {
    return ask_node(*nodes_[number], std::move(call));
  }

  /// Time goes on until `condition` holds: never faster than real time, because threads must keep
  /// up. It stands still after `time_max`.
  template <class Condition>
  [[nodiscard]] bool passes(Condition condition, Millis time_max = Millis::max()) {
    auto looked_at = std::chrono::steady_clock::now();
    return eventually([&] {
      const auto now = std::chrono::steady_clock::now();
      const auto passed = std::chrono::duration_cast<Millis>(now - looked_at);
      if (passed < Millis{2}) {
        return false;  // Other threads need what `condition` locks.
      }
      looked_at = now;
      const bool holds = condition();
      if (!holds) {
        const Millis step = std::min({passed, Millis{10}, time_max});
        time_max -= step;
        clock_.advance(step);
        shared_.leases.pass(step);
      }
      return holds;
    });
  }
  /// How many shards the node has.
  [[nodiscard]] std::size_t held(std::size_t number) {
    const std::vector<Lease> leases = shared_.leases.view("").leases;
    return static_cast<std::size_t>(std::ranges::count_if(
        leases, [&](const Lease& lease) { return lease.is_held_by(id_of(number)); }));
  }
  void start_both() {
    start(0);
    ASSERT_TRUE(passes([&] { return held(0) == shard_count; }));
    start(1);
    ASSERT_TRUE(passes([&] { return held(0) == held(1); }));
  }
  /// A webhook whose shard the node has.
  [[nodiscard]] Webhook webhook_of(std::size_t number, std::uint8_t first = 1) {
    Webhook webhook = make_webhook(first, "h" + std::to_string(first) + ".example");
    while (!shared_.leases.lease("", shard_of(webhook.id)).is_held_by(id_of(number))) {
      ++webhook.id.bytes[14];
    }
    return webhook;
  }
  /// A webhook in the same shard.
  [[nodiscard]] static Webhook neighbour_of(const Webhook& other, std::uint8_t first) {
    Webhook webhook = make_webhook(first, "h" + std::to_string(first) + ".example");
    for (std::uint16_t i = 0; shard_of(webhook.id) != shard_of(other.id); ++i) {
      webhook.id.bytes[13] = static_cast<std::uint8_t>(i >> 8);
      webhook.id.bytes[14] = static_cast<std::uint8_t>(i);
    }
    return webhook;
  }
  [[nodiscard]] static std::string host_of(const Webhook& webhook) {
    return "h" + std::to_string(webhook.id.bytes[15]) + ".example";
  }
  [[nodiscard]] AuditEntry entry() const { return {.at = clock_.now().wall}; }
  void add(std::size_t number, const Webhook& webhook) {
    const auto added =
        ask(number, [&] { return service(number).add_webhook(webhook, entry(), std::nullopt); });
    ASSERT_TRUE(added) << added.error().message;
  }
  /// As the API does it: tries again if the catalogue has changed.
  void publish_at(std::size_t number, std::uint8_t event) {
    for (int tries = 0; tries < 20; ++tries) {
      std::vector<EventDraft> drafts(1);
      drafts.front().event = make_event(event);
      drafts.front().event.created_at = clock_.now().wall;
      const auto receipts =
          ask(number, [&] { return service(number).publish(std::move(drafts), false); });
      ASSERT_TRUE(receipts) << receipts.error().message;
      if (!std::holds_alternative<Outdated>(receipts->front())) {
        return;
      }
    }
    FAIL() << "always outdated";
  }
  [[nodiscard]] std::size_t count_of(const Webhook& webhook, DeliveryState state) {
    const std::lock_guard lock{shared_.rows.mutex};
    return static_cast<std::size_t>(
        std::ranges::count_if(shared_.rows.deliveries, [&](const auto& entry) {
          const Delivery& delivery = entry.second.delivery;
          return delivery.webhook_id == webhook.id && delivery.state == state;
        }));
  }
  [[nodiscard]] bool delivers(const Webhook& webhook, std::size_t count = 1) {
    return passes([&] { return count_of(webhook, DeliveryState::succeeded) == count; });
  }
  Result<LaneView> command(std::size_t number, const Webhook& webhook, CircuitAction action) {
    return ask(number,
               [&] { return service(number).command_circuit({webhook.id, action, {}}, entry()); });
  }
  Result<LaneView> view(std::size_t number, const Webhook& webhook) {
    return ask(number, [&] { return service(number).lane_view(webhook.id); });
  }
  /// How many alerts say that a circuit has opened.
  [[nodiscard]] std::size_t circuit_alerts(bool only_active) {
    const std::lock_guard lock{shared_.rows.mutex};
    return static_cast<std::size_t>(
        std::ranges::count_if(shared_.rows.alerts, [only_active](const auto& each) {
          return each.second.subject.kind == AlertKind::circuit_opened &&
                 !(only_active && each.second.resolved_at);
        }));
  }
  /// The first node gives its shards away, but keeps that of `busy` until its request ends. The
  /// lane of `idle`, in the same shard, has gone.
  void leave_one_shard(const Webhook& busy, const Webhook& idle) {
    add(0, busy);
    add(0, idle);
    receivers_.hold(host_of(busy));
    publish_at(0, 1);
    ASSERT_TRUE(delivers(idle));
    ASSERT_TRUE(passes([&] { return receivers_.count(host_of(busy)) == 1; }));
    nodes_[0]->drain([] {});
    ASSERT_TRUE(passes([&] { return held(0) == 1; }));
  }
  [[nodiscard]] bool knows(std::size_t number, const Webhook& webhook) {
    return service(number).directory()->find(webhook.id) != nullptr;
  }

  /// The node that does what one does for all.
  [[nodiscard]] std::size_t leader() const {
    return shared_.leases.lease("", 0).is_held_by(id_of(0)) ? 0 : 1;
  }
  /// Tells of webhooks that are switched off. Call before the nodes start.
  void add_channel(Millis group_window) {
    NotificationChannel channel;
    channel.id = ChannelId{{1}};
    channel.name = "Operators";
    channel.email.to = {"ops@example.com"};
    channel.kinds = {NotificationKind::of(AlertKind::webhook_disabled)};
    channel.group_window = group_window;
    shared_.rows.channels.emplace(channel.id, channel);
  }
  /// Its receiver asks for that.
  void switch_off(const Webhook& webhook) {
    receivers_.answer(host_of(webhook), 410);
    publish_at(leader(), 1);
  }
  void switch_on(std::size_t number, const Webhook& webhook) {
    const auto edit = [](const Webhook& known) {
      Webhook changed = known;
      changed.active = true;
      return Result<Webhook>{changed};
    };
    ASSERT_TRUE(ask(number, [&] {
      return service(number).edit_webhook(webhook.id, edit, entry(), std::nullopt);
    }));
  }
  [[nodiscard]] std::size_t notifications_in(NotificationState state) {
    const std::lock_guard lock{shared_.rows.mutex};
    return static_cast<std::size_t>(std::ranges::count_if(
        shared_.rows.notifications, [&](const auto& each) { return each.second.state == state; }));
  }
  [[nodiscard]] bool has_nothing_to_tell(std::size_t number) {
    return service(number).metrics_text().find("\npostrider_notifications_waiting 0\n") !=
           std::string::npos;
  }

  SharedMemoryStore shared_;
  SharedMailbox mailbox_;
  SharedSignals signals_;
  std::array<std::atomic<bool>, 2> away_{};
  std::atomic<bool> counting_fails_{false};
  std::atomic<bool> fails_after_change_{false};
  std::atomic<bool> has_changed_{false};
  std::atomic<bool> second_waits_{false};  // In its next look at the catalogue.
  std::uint32_t interactive_sends_max_ = test_sends_at_once_max;  // Set before start().
  std::array<std::unique_ptr<Node>, 2> nodes_;
};

}  // namespace postrider::test
