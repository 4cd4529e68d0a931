// A whole node in one process: the memory store, a clock that the test moves, and receivers that
// answer as scripted. No sockets.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "runtime/delivery/node.h"
#include "runtime/delivery/placement.h"

#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"
#include "tests/support/scripted_transport.h"
#include "tests/support/test_digest.h"

namespace postrider::test {

/// Every node of a test reads the same clock.
class SharedClock final : public Clock {
 public:
  explicit SharedClock(const Clock& clock) : clock_(clock) {}
  [[nodiscard]] Moment now() const override { return clock_.now(); }
  [[nodiscard]] MonoTime boot_time() const override { return clock_.boot_time(); }

 private:
  const Clock& clock_;
};

class NodeFixture : public testing::Test {
 protected:
  NodeFixture() { memory_.digest = test_digest; }
  ~NodeFixture() override { stop(); }

  [[nodiscard]] NodeParts make_parts() {
    NodeParts parts;
    parts.store = make_memory_store(memory_);
    real_ledger_ = make_memory_ledger(memory_);
    parts.store.ledger = std::make_unique<FaultyLedger>(
        *real_ledger_, [this](std::uint64_t) { return store_fault_.load(); });
    parts.readers.push_back(make_memory_reader(memory_));
    parts.clock = std::make_unique<SharedClock>(clock_);
    parts.make_transport = [this](boost::asio::io_context& io, const Clock&) {
      return Result<std::unique_ptr<Transport>>{
          std::make_unique<ScriptedTransport>(io, receivers_)};
    };
    parts.make_sign = [](SignatureScheme, const Secret<std::string>&) {
      return [](std::string_view, std::string_view) { return std::string{"signature"}; };
    };
    parts.make_schema_check = [](std::string_view) {
      return Result<std::unique_ptr<const SchemaCheck>>{fail(Errc::invalid, "No schemas here.")};
    };
    return parts;
  }

  /// Makes a node from what the store holds, and starts it.
  void start(const NodeOptions& options = {}) { start(options, make_parts()); }
  void start(const NodeOptions& options, NodeParts parts) {
    Result<std::unique_ptr<Node>> node = make_node(options, std::move(parts), {});
    ASSERT_TRUE(node) << node.error().message;
    node_ = *std::move(node);
    node_->start();
  }
  void stop() {
    if (node_) {
      node_->stop();
      node_.reset();
    }
  }

  [[nodiscard]] Service& service() { return node_->service(); }

  /// Runs `call` on an io thread and returns what it resumes with. Fails the test if it does not
  /// resume within 20 seconds, or on another thread.
  template <class Call>
  auto ask(Call call, std::size_t worker = 0) {
    return ask_node(*node_, std::move(call), worker);
  }
  template <class Call>
  static auto ask_node(Node& node, Call call, std::size_t worker = 0) {
    using Answer = typename std::invoke_result_t<Call>::value_type;
    auto run = [](Call each) -> Awaitable<Answer> {
      const std::thread::id home = std::this_thread::get_id();
      auto pending = each();
      if constexpr (std::is_void_v<Answer>) {
        co_await std::move(pending);
        EXPECT_EQ(std::this_thread::get_id(), home);
      } else {
        Answer answer = co_await std::move(pending);
        EXPECT_EQ(std::this_thread::get_id(), home);
        co_return answer;
      }
    };
    std::future<Answer> answer = boost::asio::co_spawn(
        *node.io_contexts()[worker], run(std::move(call)), boost::asio::use_future);
    if (answer.wait_for(std::chrono::seconds{20}) != std::future_status::ready) {
      throw std::runtime_error{"The call was not answered."};
    }
    return answer.get();
  }

  // ------------------------------------------------------------ short words for common calls

  /// A webhook for all events. Its receiver has the name `<host>`.
  static Webhook make_webhook(std::uint8_t number, const std::string& host) {
    Webhook webhook;
    webhook.id.bytes[15] = number;
    webhook.url = "https://" + host + "/";
    webhook.events = {*EventPattern::parse("*")};
    webhook.retry.delay_base = Millis{1};
    webhook.retry.delay_max = Millis{1'000};
    webhook.retry.category_minimums = false;
    return webhook;
  }
  /// The same, with an id whose lane is on `worker` of two.
  static Webhook make_webhook_on(std::size_t worker, std::uint8_t number, const std::string& host) {
    Webhook webhook = make_webhook(number, host);
    while (worker_of(webhook.id, 2) != worker) {
      ++webhook.id.bytes[14];
    }
    return webhook;
  }
  /// Stores an event with one delivery to the webhook, bypassing the node.
  void store_delivery(WebhookId webhook_id, const std::function<void(Delivery&)>& edit = {}) {
    Publish publish;
    publish.event = make_event(1);
    Delivery delivery;
    delivery.event_id = publish.event.id;
    delivery.webhook_id = webhook_id;
    delivery.event_type = publish.event.type;
    delivery.due = clock_.now().steady;
    if (edit) {
      edit(delivery);
    }
    publish.deliveries.push_back(delivery);
    ASSERT_TRUE(make_memory_ledger(memory_)->commit({.publishes = {publish}}));
  }
  void add_webhook(const Webhook& webhook) {
    const auto added = ask([&] {
      return service().add_webhook(webhook, AuditEntry{.at = clock_.now().wall}, std::nullopt);
    });
    ASSERT_TRUE(added) << added.error().message;
  }
  void edit_webhook(WebhookId id, const std::function<void(Webhook&)>& edit) {
    const auto edited = ask([&] {
      return service().edit_webhook(
          id,
          [edit](const Webhook& webhook) {
            Webhook changed = webhook;
            edit(changed);
            return Result<Webhook>{changed};
          },
          AuditEntry{.at = clock_.now().wall}, std::nullopt);
    });
    ASSERT_TRUE(edited) << edited.error().message;
  }
  void remove_webhook(WebhookId id) {
    ASSERT_TRUE(
        ask([&] { return service().remove_webhook(id, AuditEntry{.at = clock_.now().wall}); }));
  }
  Result<LaneView> command_circuit(WebhookId id, CircuitAction action) {
    return ask([&] {
      return service().command_circuit({id, action, {}}, AuditEntry{.at = clock_.now().wall});
    });
  }
  [[nodiscard]] static Event make_event(std::uint8_t number) {
    Event event;
    event.id.bytes[15] = number;
    event.type = "order.paid";
    event.data = R"({"order":)" + std::to_string(number) + "}";
    return event;
  }
  Result<std::vector<PublishReceipt>> publish(std::uint8_t number) {
    std::vector<EventDraft> drafts(1);
    drafts.front().event = make_event(number);
    drafts.front().event.created_at = clock_.now().wall;
    return ask([&] { return service().publish(std::move(drafts), false); });
  }

  // ------------------------------------------------------------ what is stored

  template <class Look>
  auto look(Look look_at) {
    const std::lock_guard lock{memory_.mutex};
    return look_at(memory_);
  }
  /// How many deliveries of the webhook are in `state`.
  [[nodiscard]] std::size_t count(WebhookId id, DeliveryState state) {
    return look([&](const MemoryStore& store) {
      return static_cast<std::size_t>(
          std::ranges::count_if(store.deliveries, [&](const auto& entry) {
            const Delivery& delivery = entry.second.delivery;
            return delivery.webhook_id == id && delivery.state == state;
          }));
    });
  }
  [[nodiscard]] bool has_audit(const std::string& action) {
    return look([&](const MemoryStore& store) {
      return std::ranges::any_of(
          store.audit, [&](const AuditRecord& record) { return record.entry.action == action; });
    });
  }
  [[nodiscard]] std::optional<Alert> find_alert(const AlertSubject& subject) {
    return look([&](const MemoryStore& store) -> std::optional<Alert> {
      for (const auto& [sequence, alert] : store.alerts) {
        if (alert.subject == subject) {
          return alert;
        }
      }
      return std::nullopt;
    });
  }
  [[nodiscard]] bool has_metric(const std::string& line) {
    return ("\n" + service().metrics_text()).find("\n" + line + "\n") != std::string::npos;
  }

  MemoryStore memory_;
  ManualClock clock_;
  ScriptedReceivers receivers_;
  std::atomic<std::optional<StoreFault>> store_fault_{std::nullopt};
  std::unique_ptr<Ledger> real_ledger_;
  std::unique_ptr<Node> node_;
};

}  // namespace postrider::test
