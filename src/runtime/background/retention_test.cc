#include "runtime/background/retention.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = wall_from_unix_ms(1'750'000'000'000);

/// Keeps lines in memory. Fails while `failing` is set.
class ListArchive final : public Archive {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> open;
    std::set<std::string> sealed;
    std::size_t lines_max = 3;  // Then the file is full.
    bool failing = false;
    int failures = 0;
  };

  explicit ListArchive(State& state) : state_(state) {}

  Result<bool> append(std::string_view line, WallTime) override {
    const std::lock_guard lock{state_.mutex};
    state_.open.emplace_back(line);
    return state_.open.size() >= state_.lines_max;
  }

  Result<void> seal() override {
    const std::lock_guard lock{state_.mutex};
    if (state_.failing) {
      state_.open.clear();
      ++state_.failures;
      state_.changed.notify_all();
      return fail(Errc::unavailable, "There is no room.");
    }
    state_.sealed.insert(state_.open.begin(), state_.open.end());
    state_.open.clear();
    state_.changed.notify_all();
    return {};
  }

 private:
  State& state_;
};

/// Fails, removes months and releases space as often as `State` says.
class FaultyRetentionWriter final : public RetentionWriter {
 public:
  struct State {
    std::atomic<int> failures{0};
    std::atomic<int> months{0};  // Each has ten events and a dead letter of `acme`.
    std::atomic<int> space{0};
  };

  FaultyRetentionWriter(std::unique_ptr<RetentionWriter> real, State& state)
      : real_(std::move(real)), state_(state) {}

  Result<std::optional<Removed>> remove_month(const RetentionCutoffs&) override {
    if (state_.months == 0) {
      return std::nullopt;
    }
    --state_.months;
    return Removed{.events = 10, .deliveries = 1, .attempts = 3, .dead_letters = {{"acme", 1}}};
  }
  Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                         const RetentionCutoffs& cutoffs) override {
    if (state_.failures > 0) {
      --state_.failures;
      return fail(Errc::unavailable, "The store is made to fail.");
    }
    return real_->remove(keys, cutoffs);
  }
  Result<bool> forget_webhook(WebhookId id) override { return real_->forget_webhook(id); }
  Result<std::uint64_t> remove_stats(WallTime before, std::uint32_t limit) override {
    return real_->remove_stats(before, limit);
  }
  Result<std::uint64_t> remove_open_periods(WallTime before, std::uint32_t limit) override {
    return real_->remove_open_periods(before, limit);
  }
  Result<bool> release_space() override { return --state_.space > 0; }

 private:
  std::unique_ptr<RetentionWriter> real_;
  State& state_;
};

class RetentionTest : public testing::Test {
 protected:
  Delivery publish(std::uint8_t number, Millis age, bool delivered = false) {
    Publish publish;
    publish.event.id.bytes[15] = number;
    publish.event.tenant_id = "acme";
    publish.event.type = "order.paid";
    publish.event.data = "{}";
    publish.event.created_at = now - age;
    if (delivered) {
      publish.deliveries.emplace_back();
      publish.deliveries.front().id.bytes[15] = number;
      publish.deliveries.front().event_id = publish.event.id;
    }
    const auto receipt = make_memory_ledger(store_)->commit({.publishes = {publish}});
    EXPECT_TRUE(receipt.has_value());
    return delivered ? std::get<Accepted>(receipt->publishes.front()).deliveries.front()
                     : Delivery{};
  }

  /// An event that was published just now, and a dead letter of it that died `age` ago.
  void add_dead_letter(std::uint8_t number, Millis age) {
    Settlement death;
    death.delivery = publish(number, 0s, true);
    death.delivery.state = DeliveryState::dead_letter;
    death.delivery.attempt_count = 1;
    death.attempt = Attempt{};
    death.attempt->failure_category = FailureCategory::timeout;
    death.attempt->outcome.executed_at = now - age;
    death.dead = DeadReason{};
    ASSERT_TRUE(make_memory_ledger(store_)->commit({.settlements = {death}}).has_value());
  }

  void add_operation(std::uint8_t number, OperationStatus status, Millis age) {
    Operation operation;
    operation.id.bytes[15] = number;
    operation.status = status;
    if (!is_unfinished(status)) {
      operation.finished_at = now - age;
    }
    store_.operations[operation.id] = operation;
  }

  void run(bool archiving) {
    std::vector<Reader> readers;
    readers.push_back(make_memory_reader(store_));
    readers_ = std::make_unique<ReaderPool>(std::move(readers), clock_);
    Store store = make_memory_store(store_);
    store.retention = std::make_unique<FaultyRetentionWriter>(std::move(store.retention), writer_);
    thread_ = std::make_unique<StoreThread>(StoreThreadOptions{.recover_pause = 1ms},
                                            StoreThread::Parts{.store = std::move(store),
                                                               .clock = &clock_,
                                                               .metrics = metrics_.get(),
                                                               .owner = &owner_});
    thread_->start();
    Retention::Parts parts{.clock = &clock_,
                           .metrics = metrics_.get(),
                           .readers = readers_.get(),
                           .store = thread_.get()};
    if (archiving) {
      parts.archive = std::make_unique<ListArchive>(archive_);
      parts.archive_line = [](const ExpiredEvent& old) { return old.event.id.to_string(); };
    }
    // With an age of a second, sweeps are a tenth of a second apart.
    retention_ = std::make_unique<Retention>(options_, std::move(parts));
    retention_->start();
  }

  void TearDown() override {
    if (retention_) {
      retention_->stop();
      thread_->stop();
      readers_->stop();
    }
  }

  [[nodiscard]] std::size_t events_left() {
    const std::lock_guard lock{store_.mutex};
    return store_.events.size();
  }
  [[nodiscard]] std::size_t operations_left() {
    const std::lock_guard lock{store_.mutex};
    return store_.operations.size();
  }
  [[nodiscard]] std::size_t stats_left() {
    const std::lock_guard lock{store_.mutex};
    return store_.tenant_tallies.size();
  }
  [[nodiscard]] bool has_metric(const std::string& line) {
    return ("\n" + metrics_->text()).find("\n" + line + "\n") != std::string::npos;
  }
  /// A sweep ends with giving back space.
  [[nodiscard]] bool wait_for_sweeps(int count) {
    const int before = writer_.space;
    return eventually([&] { return writer_.space <= before - count; });
  }

  /// Waits for changes of the archive, and polls what cannot be waited for.
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 1'000; ++i) {
      if (condition()) {
        return true;
      }
      std::unique_lock lock{archive_.mutex};
      archive_.changed.wait_for(lock, 10ms);
    }
    return false;
  }

  MemoryStore store_;
  test::ManualClock clock_{now};
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  ListArchive::State archive_;
  FaultyRetentionWriter::State writer_;
  RetentionOptions options_{.ages = {.events = 1s, .dead_letters = 1s}, .turn_max = 2};
  std::unique_ptr<ReaderPool> readers_;
  test::FakeStoreOwner owner_;
  std::unique_ptr<StoreThread> thread_;
  std::unique_ptr<Retention> retention_;
};

TEST(SweepInterval, FollowsTheShortestAgeWithinItsBounds) {
  EXPECT_EQ(sweep_interval({}), 1h);
  EXPECT_EQ(sweep_interval({.ages = {.events = 12h, .dead_letters = 48h}}), 30min);
  EXPECT_EQ(sweep_interval({.ages = {.events = 1ms, .dead_letters = 48h}}), 100ms);
  EXPECT_EQ(sweep_interval({.ages = {.events = 0ms, .dead_letters = 0ms}, .stats = 0ms}), 1h);
}

TEST_F(RetentionTest, RemovesExpiredEventsAndCountsThem) {
  for (std::uint8_t number = 1; number <= 7; ++number) {
    publish(number, number <= 5 ? 1s : 999ms);
  }
  run(false);
  EXPECT_TRUE(eventually([this] { return events_left() == 2; }));
  EXPECT_TRUE(eventually(
      [this] { return has_metric("postrider_retention_removed_total{kind=\"event\"} 5"); }));
}

TEST_F(RetentionTest, RemovesADeadLetterByItsOwnAgeAndCountsIt) {
  add_dead_letter(1, 1s);
  add_dead_letter(2, 999ms);
  metrics_->dead_letters_changed("acme", 2);
  run(false);
  EXPECT_TRUE(eventually([this] { return has_metric("webhook_dlq_size{tenant_id=\"acme\"} 1"); }));
  EXPECT_TRUE(has_metric("postrider_retention_removed_total{kind=\"dead_letter\"} 1"));
  EXPECT_TRUE(has_metric("postrider_retention_removed_total{kind=\"delivery\"} 1"));
  EXPECT_TRUE(has_metric("postrider_retention_removed_total{kind=\"attempt\"} 1"));
  EXPECT_EQ(events_left(), 2u) << "the event stays until its own age";
}

TEST_F(RetentionTest, RemovesWholeMonthsFirst) {
  writer_.months = 3;
  publish(1, 1s);
  metrics_->dead_letters_changed("acme", 4);
  run(false);
  EXPECT_TRUE(eventually(
      [this] { return has_metric("postrider_retention_removed_total{kind=\"event\"} 31"); }));
  EXPECT_EQ(writer_.months, 0);
  EXPECT_TRUE(has_metric("webhook_dlq_size{tenant_id=\"acme\"} 1"));
  EXPECT_TRUE(has_metric("postrider_retention_removed_total{kind=\"attempt\"} 9"));
}

TEST_F(RetentionTest, RemovesNoWholeMonthThatIsNotArchived) {
  writer_.months = 1;
  publish(1, 1s);
  run(true);
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }));
  EXPECT_TRUE(wait_for_sweeps(2));
  EXPECT_EQ(writer_.months, 1);
}

TEST_F(RetentionTest, GivesBackSpaceEvenWhileTheArchiveFails) {
  archive_.failing = true;
  publish(1, 1s);
  run(true);
  EXPECT_TRUE(wait_for_sweeps(2));
  EXPECT_EQ(events_left(), 1u);
}

TEST_F(RetentionTest, RemovesStatisticsOfTheirAgeAndKeepsYoungerOnes) {
  store_.tenant_tallies[{stats_span_of(now - 25h), "acme"}] = {};
  store_.tenant_tallies[{stats_span_of(now - 23h), "acme"}] = {};
  options_.stats = 24h;
  run(false);
  EXPECT_TRUE(eventually([this] { return stats_left() == 1; }));
  EXPECT_TRUE(wait_for_sweeps(2));
  EXPECT_EQ(stats_left(), 1u);
}

TEST_F(RetentionTest, RemovesOpenPeriodsOfTheAgeOfEvents) {
  const WebhookId id{};
  store_.webhooks.try_emplace(id);
  for (const Millis age : {1h, 0h}) {
    store_.open_periods[{id, now - age}] = {.opened_at = now - age, .ended_at = now - age};
  }
  run(false);
  EXPECT_TRUE(wait_for_sweeps(2));
  const std::lock_guard lock{store_.mutex};
  ASSERT_EQ(store_.open_periods.size(), 1u);
  EXPECT_EQ(store_.open_periods.begin()->second.opened_at, now);
}

TEST_F(RetentionTest, RemovesEndedOperationsEvenWhileTheArchiveFails) {
  archive_.failing = true;
  publish(1, 1s);
  add_operation(1, OperationStatus::completed, 25h);
  add_operation(2, OperationStatus::completed, 23h);
  add_operation(3, OperationStatus::running, 25h);
  options_.operations = 24h;
  run(true);
  EXPECT_TRUE(eventually([this] { return operations_left() == 2; }));
  EXPECT_TRUE(eventually(
      [this] { return has_metric("postrider_retention_removed_total{kind=\"operation\"} 1"); }));
  EXPECT_EQ(events_left(), 1u);
}

TEST_F(RetentionTest, KeepsStatisticsAndOperationsForGoodWithoutAnAge) {
  store_.tenant_tallies[{stats_span_of(now - 10'000h), "acme"}] = {};
  add_operation(1, OperationStatus::completed, 10'000h);
  options_.stats = 0ms;
  options_.operations = 0ms;
  run(false);
  EXPECT_TRUE(wait_for_sweeps(2));
  EXPECT_EQ(stats_left(), 1u);
  EXPECT_EQ(operations_left(), 1u);
}

TEST_F(RetentionTest, GivesBackSpaceUntilThereIsNone) {
  writer_.space = 5;
  run(false);
  EXPECT_TRUE(eventually([this] { return writer_.space <= 0; }));
}

TEST_F(RetentionTest, TriesAgainAfterTheStoreFailed) {
  writer_.failures = 2;
  publish(1, 1s);
  run(false);
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }));
  EXPECT_EQ(writer_.failures, 0);
  EXPECT_TRUE(eventually(
      [this] { return has_metric("postrider_retention_removed_total{kind=\"event\"} 1"); }));
}

TEST_F(RetentionTest, RemovesNothingBeforeItIsArchived) {
  archive_.failing = true;
  for (std::uint8_t number = 1; number <= 5; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] {
    const std::lock_guard lock{archive_.mutex};
    return archive_.failures >= 2;
  })) << "it tries again";
  EXPECT_EQ(events_left(), 5u);
  EXPECT_EQ(metrics_->text().find("postrider_archive_failures_total 0\n"), std::string::npos);
  {
    const std::lock_guard lock{archive_.mutex};
    archive_.failing = false;
  }
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }))
      << "it continues once the archive works";
  EXPECT_EQ(archive_.sealed.size(), 5u);
}

TEST_F(RetentionTest, AppliesChangedAgesAndAnotherArchiveAtOnce) {
  publish(1, 1h);
  publish(2, 1min);
  publish(3, 0s);
  options_.ages = {.events = 24h, .dead_letters = 24h};
  run(true);
  ListArchive::State other;
  options_.ages.events = 1min;
  retention_->change({.options = options_,
                      .other_archive = true,
                      .archive = std::make_unique<ListArchive>(other)});
  // The next sweep would be an hour away.
  EXPECT_TRUE(eventually([this] { return events_left() == 1; }));
  retention_->stop();
  EXPECT_EQ(other.sealed.size(), 2u);
  EXPECT_TRUE(archive_.sealed.empty());
}

TEST_F(RetentionTest, CutsASweepShortForAChange) {
  for (std::uint8_t number = 1; number <= 200; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] { return events_left() < 200; }));
  ListArchive::State other;
  retention_->change({.options = options_,
                      .other_archive = true,
                      .archive = std::make_unique<ListArchive>(other)});
  retention_->change({.options = options_});  // Keeps the pending archive.
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }));
  retention_->stop();
  EXPECT_FALSE(other.sealed.empty());
  EXPECT_EQ(archive_.sealed.size() + other.sealed.size(), 200u);
}

TEST_F(RetentionTest, AChangeWaitsUntilArchivedEventsAreRemoved) {
  for (std::uint8_t number = 1; number <= 40; ++number) {
    publish(number, 1s);
  }
  archive_.lines_max = 1'000;
  run(true);
  EXPECT_TRUE(eventually([this] {
    const std::lock_guard lock{archive_.mutex};
    return !archive_.open.empty();
  }));
  ListArchive::State other;
  retention_->change({.options = options_,
                      .other_archive = true,
                      .archive = std::make_unique<ListArchive>(other)});
  EXPECT_TRUE(eventually([this] { return events_left() == 0; }));
  retention_->stop();
  EXPECT_EQ(archive_.sealed.size(), 40u);
  EXPECT_TRUE(other.sealed.empty()) << "nothing is archived twice";
}

TEST_F(RetentionTest, StopsInTheMiddleOfASweep) {  // P10
  for (std::uint8_t number = 1; number <= 200; ++number) {
    publish(number, 1s);
  }
  run(true);
  EXPECT_TRUE(eventually([this] { return events_left() < 200; }));
  retention_->stop();
  const std::lock_guard lock{archive_.mutex};
  EXPECT_GE(archive_.sealed.size() + events_left(), 200u);
}

}  // namespace
}  // namespace postrider
