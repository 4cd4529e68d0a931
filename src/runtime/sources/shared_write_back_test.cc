// Servers that share a store write the statuses of one table. A server may be stopped between any
// two of its calls, and the others, the receivers and the application go on.
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/memory/memory_store.h"
#include "runtime/sources/status_write_back.h"

#include "tests/contract/store_script.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

const std::string orders = "orders";

/// The application's table, with the rules of adapters/postgres/status_table.cc.
struct Table {
  struct Row {
    RowState status = RowState::pending;
    std::uint32_t attempts = 0;
    std::uint32_t generation = 0;
    bool is_under_way = false;

    [[nodiscard]] bool is_done() const { return !is_under_way && is_final(status); }
    [[nodiscard]] bool is_due() const { return !is_under_way && !is_final(status); }
  };

  RowWriteOutcome write(const RowWrite& write) {
    const auto found = rows.find(write.row_id);
    if (found == rows.end()) {
      return RowWriteOutcome::missing;
    }
    Row& row = found->second;
    const RowStatus& status = write.status;
    if (row.generation == write.generation + 1 && row.is_done()) {
      const bool is_repeated = row.status == status.state && row.attempts == status.attempts;
      return is_repeated ? RowWriteOutcome::written : RowWriteOutcome::ahead;
    }
    if (row.generation != write.generation) {
      return RowWriteOutcome::superseded;
    }
    if (row.is_due()) {
      return RowWriteOutcome::armed;
    }
    row = {.status = status.state,
           .attempts = status.attempts,
           .generation = row.generation + (is_final(status.state) ? 1 : 0),
           .is_under_way = !is_final(status.state)};
    return RowWriteOutcome::written;
  }

  std::map<std::string, Row> rows;
  const void* writer = nullptr;  // Has begun, and not ended.
};

struct Killed {};

/// A server that makes one call at a time, when it is told to.
class Server final : private TrackedRows {
 public:
  Server(MemoryStore& store, Table& table, const Clock& clock)
      : reader_(make_memory_source_row_reader(store)),
        record_(make_memory_source_row_writer(store)),
        table_(table),
        changes_({orders}, RowChangeOptions{.is_shared = true}),
        writer_(StatusWriteBack::Options{.source = orders, .seed = 1, .is_shared = true},
                std::make_unique<Sink>(*this),
                StatusWriteBack::Parts{.changes = &changes_, .rows = this, .clock = &clock}) {}
  ~Server() { kill(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] RowChanges& changes() { return changes_; }

  /// Goes on until the next call of the current step, or begins a step.
  void make_call() {
    std::unique_lock lock{mutex_};
    is_running_ = true;
    if (!thread_.joinable()) {
      is_done_ = false;
      thread_ = std::thread{[this] { run(); }};
    }
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_running_; });
    if (is_done_) {
      thread_.join();
    }
  }
  [[nodiscard]] std::string_view next_call() const { return next_call_; }
  [[nodiscard]] bool is_in_a_step() const { return thread_.joinable(); }
  void finish_step() {
    do {
      make_call();
    } while (is_in_a_step());
  }
  void kill() {
    {
      const std::lock_guard lock{mutex_};
      is_killed_ = true;
    }
    while (is_in_a_step()) {
      make_call();
    }
    if (table_.writer == this) {
      table_.writer = nullptr;
    }
  }

 private:
  class Sink final : public RowStatusSink {
   public:
    explicit Sink(Server& server) : server_(server) {}

    Result<void> connect() override { return {}; }
    Result<void> begin() override {
      server_.pause("begin");
      if (server_.table_.writer != nullptr) {
        return fail(Errc::conflict, "Another server writes.");
      }
      server_.table_.writer = &server_;
      return {};
    }
    Result<void> end() override {
      EXPECT_EQ(server_.table_.writer, &server_);
      server_.table_.writer = nullptr;
      return {};
    }
    Result<std::vector<RowWriteOutcome>> write(const std::vector<RowWrite>& rows) override {
      server_.pause("write");
      std::vector<RowWriteOutcome> outcomes;
      for (const RowWrite& row : rows) {
        outcomes.push_back(server_.table_.write(row));
      }
      if (server_.table_.writer == &server_) {
        server_.table_.writer = nullptr;
      }
      return outcomes;
    }
    Result<std::uint64_t> remove_delivered(Millis, std::uint32_t) override { return 0; }
    void interrupt() override {}

   private:
    Server& server_;
  };

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    pause("rows_of");
    return reader_->rows_of(source, events);
  }
  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    pause("unsettled");
    return reader_->unsettled(source, after, limit);
  }
  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    pause("record");
    return record_->record(source, rows);
  }

  void run() {
    try {
      (void)writer_.step(Millis{0});
    } catch (const Killed&) {
    }
    const std::lock_guard lock{mutex_};
    is_done_ = true;
    is_running_ = false;
    changed_.notify_all();
  }
  /// Before every call, on the thread of the step.
  void pause(std::string_view call) {
    std::unique_lock lock{mutex_};
    next_call_ = call;
    is_running_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_running_; });
    if (is_killed_) {
      throw Killed{};
    }
  }

  std::unique_ptr<SourceRowReader> reader_;
  std::unique_ptr<SourceRowWriter> record_;
  Table& table_;
  RowChanges changes_;

  std::mutex mutex_;  // Guards the five below.
  std::condition_variable changed_;
  std::string_view next_call_;
  bool is_running_ = false;
  bool is_done_ = false;
  bool is_killed_ = false;
  std::thread thread_;
  StatusWriteBack writer_;
};

class SharedWriteBackTest : public testing::Test {
 protected:
  SharedWriteBackTest() { table_.rows["a"] = {}; }

  [[nodiscard]] std::unique_ptr<Server> make_server() {
    return std::make_unique<Server>(store_, table_, clock_);
  }
  BatchReceipt commit(Server& server, const Batch& batch) {
    const Result<BatchReceipt> receipt = ledger_->commit(batch);
    EXPECT_TRUE(receipt.has_value());
    server.changes().committed(batch, *receipt);
    return *receipt;
  }
  /// The source offers the row. False if the server took it for one that is under way.
  bool take_row(Server& server) {
    Table::Row& row = table_.rows["a"];
    Publish publish = script_.publish({test::StoreScript::webhook(1)}, {.key = "a"});
    publish.row = SourceRow{.source = orders, .row_id = "a", .generation = row.generation};
    const BatchReceipt receipt = commit(server, {.publishes = {publish}});
    row.is_under_way = true;
    const auto* const accepted = std::get_if<Accepted>(&receipt.publishes.at(0));
    if (accepted != nullptr) {
      latest_ = accepted->deliveries.at(0);
    }
    return accepted != nullptr;
  }
  void settle(Server& server, const Settlement& settlement) {
    commit(server, {.settlements = {settlement}});
    latest_ = settlement.delivery;
  }
  void succeed(Server& server) { settle(server, script_.success(latest_)); }
  void fail_once(Server& server) { settle(server, script_.retry(latest_, script_.now)); }
  void die(Server& server) {
    settle(server, script_.death(latest_, {Classification::permanent, "http_404"}));
  }
  void revive(Server& server) {
    const BatchReceipt receipt = commit(
        server, {.revivals = {{.delivery_id = latest_.id, .now = script_.now, .priority = {}}}});
    latest_ = receipt.revivals.at(0).value();
  }
  [[nodiscard]] Table::Row& row() { return table_.rows["a"]; }
  [[nodiscard]] std::size_t unsettled() {
    return make_memory_source_row_reader(store_)->unsettled(orders, {}, 10)->rows.size();
  }

  MemoryStore store_;
  std::unique_ptr<Ledger> ledger_ = make_memory_ledger(store_);
  test::StoreScript script_;
  test::ManualClock clock_;
  Table table_;
  Delivery latest_;
};

TEST_F(SharedWriteBackTest, TheServerThatMadeTheDeliveryWritesItsStatus) {
  const auto taker = make_server();
  const auto sender = make_server();
  taker->finish_step();
  sender->finish_step();
  ASSERT_TRUE(take_row(*taker));
  succeed(*sender);
  sender->finish_step();
  EXPECT_EQ(row().status, RowState::delivered);
  EXPECT_EQ(unsettled(), 0u);
}

TEST_F(SharedWriteBackTest, AnOlderStatusIsNotWrittenAfterANewerOne) {
  const auto slow = make_server();
  const auto fast = make_server();
  slow->finish_step();
  fast->finish_step();
  ASSERT_TRUE(take_row(*fast));
  fail_once(*slow);
  do {
    slow->make_call();
  } while (slow->next_call() != "write");  // It has read that an attempt failed.
  succeed(*fast);
  do {
    fast->make_call();
  } while (fast->is_in_a_step() && fast->next_call() != "record");
  slow->finish_step();
  fast->finish_step();
  ASSERT_EQ(row().status, RowState::delivered);
  row().status = RowState::pending;
  EXPECT_TRUE(take_row(*slow)) << "a row that was armed again was not sent";
}

TEST_F(SharedWriteBackTest, NothingIsKeptFromTheOthersIfThereIsNothingToWrite) {
  const auto first = make_server();
  const auto second = make_server();
  first->finish_step();
  second->finish_step();
  ASSERT_TRUE(take_row(*first));
  succeed(*first);
  second->changes().examine_all();
  second->make_call();
  second->make_call();  // Has read the unsettled row, and waits before it begins.
  first->finish_step();
  second->finish_step();
  EXPECT_EQ(table_.writer, nullptr);
  EXPECT_EQ(unsettled(), 0u);
}

TEST_F(SharedWriteBackTest, AllRowsAreExaminedEveryFiveMinutes) {
  const auto server = make_server();
  server->finish_step();
  {
    const auto killed = make_server();
    killed->finish_step();
    ASSERT_TRUE(take_row(*killed));
    succeed(*killed);
  }
  clock_.advance(std::chrono::minutes{5} - Millis{1});
  server->finish_step();
  EXPECT_EQ(unsettled(), 1u);
  clock_.advance(Millis{1});
  server->finish_step();
  EXPECT_EQ(row().status, RowState::delivered);
  EXPECT_EQ(unsettled(), 0u);
}

/// Everything happens in an order that is drawn. The parameter is the seed.
class SharedWriteBackOrders : public SharedWriteBackTest,
                              public testing::WithParamInterface<std::uint64_t> {
 protected:
  static constexpr int steps = 300;

  SharedWriteBackOrders() {
    for (std::unique_ptr<Server>& server : servers_) {
      server = make_server();
    }
  }

  [[nodiscard]] std::unique_ptr<Server>& any_server() {
    return servers_[random_.below(servers_.size())];
  }
  [[nodiscard]] bool is_in_delivery() const { return is_waiting(latest_.state); }
  void attempt() {
    switch (random_.below(3)) {
      case 0:
        return succeed(*any_server());
      case 1:
        return fail_once(*any_server());
      default:
        return die(*any_server());
    }
  }
  void offer() {
    const bool is_new = take_row(*any_server());
    EXPECT_TRUE(is_new || has_revived_) << "a row that was armed again was not sent";
  }
  void take_step(bool revives) {
    const std::uint64_t choice = random_.below(20);
    if (choice <= 1 && row().is_due()) {
      offer();
    } else if (choice <= 1 && row().is_done()) {
      row().status = RowState::pending;
    } else if (choice <= 3 && is_in_delivery()) {
      attempt();
    } else if (choice == 4 && revives && latest_.state == DeliveryState::dead_letter) {
      revive(*any_server());
      has_revived_ = true;
    } else if (choice == 5) {
      std::unique_ptr<Server>& killed = any_server();
      killed = nullptr;
      killed = make_server();
    } else {
      any_server()->make_call();
    }
  }
  void finish() {
    for (int round = 0; round < 20; ++round) {
      if (row().is_due()) {
        offer();
      }
      if (is_in_delivery()) {
        succeed(*any_server());
      }
      for (const std::unique_ptr<Server>& server : servers_) {
        server->finish_step();
      }
    }
    EXPECT_EQ(unsettled(), 0u);
    EXPECT_EQ(table_.writer, nullptr);
    EXPECT_EQ(row().status,
              latest_.state == DeliveryState::succeeded ? RowState::delivered : RowState::failed);
  }

  SplitMix64 random_{GetParam()};
  std::array<std::unique_ptr<Server>, 3> servers_;
  bool has_revived_ = false;  // A row that is armed then may be taken for the revived event's.
};

TEST_P(SharedWriteBackOrders, EveryRowThatIsArmedIsSentAndGetsItsStatus) {
  offer();
  for (int step = 0; step < steps; ++step) {
    take_step(false);
  }
  finish();
}

TEST_P(SharedWriteBackOrders, RevivedDeliveriesGetTheirStatusToo) {
  offer();
  for (int step = 0; step < steps; ++step) {
    take_step(true);
  }
  finish();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedWriteBackOrders, testing::Range<std::uint64_t>(1, 51));

}  // namespace
}  // namespace postrider
