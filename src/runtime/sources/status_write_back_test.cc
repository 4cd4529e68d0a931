#include "runtime/sources/status_write_back.h"

#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/contract/store_script.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using enum RowWriteOutcome;

/// A table in memory. `outcomes` are given to the next rows; then every row is written.
struct Table {
  bool is_away = false;
  std::deque<RowWriteOutcome> outcomes;
  std::map<std::string, RowStatus> rows;
  std::vector<std::size_t> batches;
  std::uint64_t removable = 0;
};

class TableSink final : public RowStatusSink {
 public:
  explicit TableSink(Table& table) : table_(table) {}

  Result<void> connect() override { return check(); }
  Result<void> begin() override { return fail(Errc::conflict, "No other server is there."); }
  Result<void> end() override { return {}; }
  Result<std::vector<RowWriteOutcome>> write(const std::vector<RowWrite>& rows) override {
    POSTRIDER_CHECK(check());
    std::vector<RowWriteOutcome> outcomes;
    for (const RowWrite& row : rows) {
      outcomes.push_back(table_.outcomes.empty() ? written : table_.outcomes.front());
      if (!table_.outcomes.empty()) {
        table_.outcomes.pop_front();
      }
      if (outcomes.back() == written) {
        table_.rows[row.row_id] = row.status;
      }
    }
    table_.batches.push_back(rows.size());
    return outcomes;
  }
  Result<std::uint64_t> remove_delivered(Millis, std::uint32_t limit) override {
    POSTRIDER_CHECK(check());
    const std::uint64_t removed = std::min<std::uint64_t>(limit, table_.removable);
    table_.removable -= removed;
    return removed;
  }
  void interrupt() override {}

 private:
  [[nodiscard]] Result<void> check() const {
    return table_.is_away ? fail(Errc::unavailable, "The table is away.") : Result<void>{};
  }
  Table& table_;
};

class DirectRows final : public TrackedRows {
 public:
  explicit DirectRows(MemoryStore& store)
      : reader_(make_memory_source_row_reader(store)),
        writer_(make_memory_source_row_writer(store)) {}

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    return reader_->rows_of(source, events);
  }
  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    return reader_->unsettled(source, after, limit);
  }
  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    if (fails_to_record) {
      return fail(Errc::unavailable, "The store is away.");
    }
    return writer_->record(source, rows);
  }

  bool fails_to_record = false;

 private:
  std::unique_ptr<SourceRowReader> reader_;
  std::unique_ptr<SourceRowWriter> writer_;
};

class StatusWriteBackTest : public testing::Test {
 protected:
  StatusWriteBackTest() { restart(); }

  /// As after a crash: nothing is known but the store.
  void restart(Millis keep_delivered = Millis{0}) {
    writer_ = nullptr;
    changes_ = std::make_unique<RowChanges>(std::vector<std::string>{"orders"});
    writer_ = std::make_unique<StatusWriteBack>(
        StatusWriteBack::Options{.source = "orders", .keep_delivered = keep_delivered, .seed = 1},
        std::make_unique<TableSink>(table_),
        StatusWriteBack::Parts{.changes = changes_.get(), .rows = &rows_, .clock = &clock_});
  }

  void commit(const Batch& batch) {
    const Result<BatchReceipt> receipt = ledger_->commit(batch);
    ASSERT_TRUE(receipt.has_value());
    last_ = *receipt;
    changes_->committed(batch, last_);
  }
  Delivery publish(const std::string& row_id, std::uint32_t generation = 0) {
    Publish publish = script_.publish({test::StoreScript::webhook(1)}, {.key = row_id});
    publish.row = SourceRow{.source = "orders", .row_id = row_id, .generation = generation};
    commit({.publishes = {publish}});
    return std::get<Accepted>(last_.publishes.at(0)).deliveries.at(0);
  }
  void succeed(const Delivery& delivery) { commit({.settlements = {script_.success(delivery)}}); }
  void die(const Delivery& delivery) {
    commit({.settlements = {script_.death(delivery, {Classification::permanent, "http_404"})}});
  }
  Millis step() { return writer_->step(Millis{0}); }
  [[nodiscard]] std::optional<RowState> state(const std::string& row_id) const {
    const auto found = table_.rows.find(row_id);
    return found == table_.rows.end() ? std::nullopt : std::optional{found->second.state};
  }
  std::size_t unsettled() { return rows_.unsettled("orders", {}, 1'000)->rows.size(); }

  MemoryStore store_;
  std::unique_ptr<Ledger> ledger_ = make_memory_ledger(store_);
  DirectRows rows_{store_};
  test::StoreScript script_;
  test::ManualClock clock_;
  BatchReceipt last_;
  Table table_;
  std::unique_ptr<RowChanges> changes_;
  std::unique_ptr<StatusWriteBack> writer_;
};

TEST_F(StatusWriteBackTest, EveryChangeIsWrittenUntilTheRowIsSettled) {
  const Delivery delivery = publish("a");
  (void)step();
  EXPECT_EQ(state("a"), std::nullopt);  // It has the status that the application gave it.
  commit({.settlements = {script_.retry(delivery, script_.now)}});
  (void)step();
  EXPECT_EQ(state("a"), RowState::retrying);
  Delivery tried = delivery;
  tried.attempt_count = 1;
  tried.state = DeliveryState::retrying;
  succeed(tried);
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
  EXPECT_EQ(table_.rows["a"].attempts, 2u);
  EXPECT_EQ(unsettled(), 0u);
  EXPECT_EQ(writer_->counts().written, 2u);
}

TEST_F(StatusWriteBackTest, ACrashBetweenSettlingAndWritingLosesNothing) {
  succeed(publish("a"));
  die(publish("b"));
  (void)publish("c");
  restart();
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
  EXPECT_EQ(state("b"), RowState::failed);
  EXPECT_EQ(unsettled(), 1u);
  EXPECT_EQ(table_.batches, (std::vector<std::size_t>{2}));
}

TEST_F(StatusWriteBackTest, ATableThatIsAwayGetsTheStatusLater) {
  (void)step();
  succeed(publish("a"));
  table_.is_away = true;
  EXPECT_GE(step(), Millis{800});
  EXPECT_GE(step(), Millis{1'600});  // Connecting failed too.
  EXPECT_EQ(unsettled(), 1u);
  table_.is_away = false;
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
  EXPECT_EQ(unsettled(), 0u);
  EXPECT_EQ(writer_->counts().failures, 2u);
}

TEST_F(StatusWriteBackTest, AWriteThatTheStoreDoesNotKnowIsRepeated) {
  (void)step();
  succeed(publish("a"));
  rows_.fails_to_record = true;
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
  rows_.fails_to_record = false;
  table_.outcomes = {ahead};
  (void)step();
  EXPECT_EQ(unsettled(), 1u);
  (void)step();  // With the next generation.
  EXPECT_EQ(unsettled(), 0u);
}

TEST_F(StatusWriteBackTest, ALockedRowIsWrittenLater) {
  (void)step();
  succeed(publish("a"));
  table_.outcomes = {locked, locked};
  for (int time = 0; time < 2; ++time) {
    (void)step();
    EXPECT_EQ(state("a"), std::nullopt);
  }
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
}

TEST_F(StatusWriteBackTest, ADeletedRowAndARowOfAnotherNodeAreSettledAndCounted) {
  (void)step();
  succeed(publish("a"));
  succeed(publish("b"));
  table_.outcomes = {missing, superseded};
  (void)step();
  EXPECT_EQ(unsettled(), 0u);
  EXPECT_EQ(writer_->counts().missing, 1u);
  EXPECT_EQ(writer_->counts().superseded, 1u);
}

TEST_F(StatusWriteBackTest, ARowThatWasArmedWaitsUntilItIsOfferedAgain) {
  (void)step();
  succeed(publish("a"));
  table_.outcomes = {armed};
  (void)step();
  EXPECT_EQ(unsettled(), 1u);
  Publish again = script_.publish({}, {.key = "a"});
  again.row = SourceRow{.source = "orders", .row_id = "a"};
  commit({.publishes = {again}});
  EXPECT_TRUE(std::holds_alternative<Duplicate>(last_.publishes.at(0)));
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
}

TEST_F(StatusWriteBackTest, AManualRetryAfterAFailureIsWritten) {
  (void)step();
  const Delivery delivery = publish("a");
  die(delivery);
  (void)step();
  EXPECT_EQ(state("a"), RowState::failed);
  commit({.revivals = {{.delivery_id = delivery.id, .now = script_.now, .priority = {}}}});
  (void)step();
  EXPECT_EQ(state("a"), RowState::retrying);
  Delivery revived = last_.revivals.at(0).value();
  succeed(revived);
  (void)step();
  EXPECT_EQ(state("a"), RowState::delivered);
  EXPECT_EQ(unsettled(), 0u);
}

TEST_F(StatusWriteBackTest, ManyRowsAreWrittenInBatches) {
  for (int row = 0; row < 1'200; ++row) {
    succeed(publish("row-" + std::to_string(row)));
  }
  (void)step();
  EXPECT_EQ(table_.batches, (std::vector<std::size_t>{500, 500, 200}));
  EXPECT_EQ(unsettled(), 0u);
}

TEST_F(StatusWriteBackTest, DeliveredRowsAreRemovedNowAndThen) {
  restart(Millis{3'600'000});
  table_.removable = 1'100;
  for (int time = 0; time < 5; ++time) {
    (void)step();
  }
  EXPECT_EQ(writer_->counts().removed, 1'100u);
  table_.removable = 1;
  (void)step();
  EXPECT_EQ(table_.removable, 1u);
  clock_.advance(Millis{10'000});
  (void)step();
  EXPECT_EQ(table_.removable, 0u);
}

TEST(WrittenBack, TellsTheStoreWhatTheTableKnows) {
  const TrackedRow row{.row_id = "a", .event_id = {}, .generation = 2, .revision = 1, .facts = {}};
  const auto record = [&](RowState state, RowWriteOutcome outcome) {
    const auto made = written_back(row, state, outcome);
    return made ? std::optional{std::pair{made->generation_now, made->settled}} : std::nullopt;
  };
  using Record = std::pair<std::uint32_t, bool>;
  EXPECT_EQ(record(RowState::retrying, written), std::nullopt);
  EXPECT_EQ(record(RowState::delivered, written), (Record{3, true}));
  EXPECT_EQ(record(RowState::failed, written), (Record{3, true}));
  EXPECT_EQ(record(RowState::retrying, ahead), (Record{3, false}));
  EXPECT_EQ(record(RowState::delivered, ahead), (Record{3, false}));
  EXPECT_EQ(record(RowState::retrying, superseded), (Record{2, true}));
  EXPECT_EQ(record(RowState::retrying, missing), (Record{2, true}));
  EXPECT_EQ(record(RowState::delivered, armed), std::nullopt);
  EXPECT_EQ(record(RowState::delivered, locked), std::nullopt);
}

}  // namespace
}  // namespace postrider
