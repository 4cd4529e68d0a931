// Operations: stored with their specification and progress.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

Operation plain(UuidGenerator& ids, OperationStatus status = OperationStatus::scheduled) {
  Operation operation;
  operation.id = ids.make<OperationId>(store_epoch);
  operation.status = status;
  operation.due = store_epoch;
  operation.created_at = store_epoch;
  return operation;
}

/// All fields set.
Operation full(UuidGenerator& ids) {
  Operation operation = plain(ids, OperationStatus::running);
  operation.kind = OperationKind::replay;
  operation.tenant_id = "acme";
  operation.spec = {
      .filter = {.tenant_id = "acme",
                 .webhook_ids = {StoreScript::webhook(1), StoreScript::webhook(2)},
                 .event_id = EventId{StoreScript::webhook(3).bytes},
                 .states = {DeliveryState::dead_letter, DeliveryState::cancelled},
                 .event_types = {"order.created", "swap.*"},
                 .failure_categories = {FailureCategory::timeout, FailureCategory::protocol},
                 .classification = Classification::permanent,
                 .from = store_epoch - Millis{5'000},
                 .to = store_epoch - Millis{1}},
      .priority = Priority::high,
      .requests_per_second = 17,
      .start_at = store_epoch + Millis{1},
      .repeat_every = std::chrono::seconds{3'600}};
  operation.total = 9'000'000'000;
  operation.done = 5;
  operation.skipped = 6;
  operation.failed = 7;
  operation.outcomes = {.requeued = 50, .succeeded = 20, .dead_again = 10, .cancelled = 5};
  operation.place = 1'234'567'890'123;
  operation.runs = 8;
  operation.started_at = store_epoch + Millis{2};
  operation.requeue_finished_at = store_epoch + Millis{3};
  operation.finished_at = store_epoch + Millis{4};
  operation.error = "It went wrong.";
  return operation;
}

}  // namespace

TEST_P(OperationsContract, OperationsRoundTripAcrossARestart) {
  UuidGenerator ids{3};
  const Operation a = plain(ids);
  const Operation b = full(ids);
  ASSERT_TRUE(operations().put(a).has_value());
  ASSERT_TRUE(operations().put(b).has_value());
  EXPECT_EQ(*operations().find(b.id), b);
  store_->reopen();
  EXPECT_EQ(*operations().find(a.id), a);
  EXPECT_EQ(*operations().find(b.id), b);
  EXPECT_EQ(*store_->reader().operations->find(b.id), b);
  const OperationId unknown = ids.make<OperationId>(store_epoch);
  EXPECT_EQ(operations().find(unknown).error().code, Errc::not_found);
  EXPECT_EQ(store_->reader().operations->find(unknown).error().code, Errc::not_found);
}

TEST_P(OperationsContract, PuttingAgainReplaces) {
  UuidGenerator ids{3};
  Operation operation = full(ids);
  ASSERT_TRUE(operations().put(operation).has_value());
  operation.status = OperationStatus::completed;
  operation.done = 99;
  operation.total.reset();
  ASSERT_TRUE(operations().put(operation).has_value());
  EXPECT_EQ(*operations().find(operation.id), operation);
}

TEST_P(OperationsContract, OperationsThatOnlyWaitForOutcomesHaveNoWorkLeft) {
  UuidGenerator ids{3};
  Operation waiting = plain(ids, OperationStatus::running);
  Operation repeated = plain(ids);
  waiting.requeue_finished_at = repeated.requeue_finished_at = store_epoch;
  ASSERT_TRUE(operations().put(waiting).has_value());
  ASSERT_TRUE(operations().put(repeated).has_value());
  EXPECT_EQ(*operations().load_unfinished(), std::vector{repeated});
}

TEST_P(OperationsContract, ScheduledAndRunningOperationsAreUnfinished) {
  UuidGenerator ids{3};
  std::vector<Operation> unfinished;
  for (const OperationStatus status :
       {OperationStatus::scheduled, OperationStatus::completed, OperationStatus::running,
        OperationStatus::cancelled, OperationStatus::failed}) {
    const Operation operation = plain(ids, status);
    ASSERT_TRUE(operations().put(operation).has_value());
    if (is_unfinished(status)) {
      unfinished.push_back(operation);
    }
  }
  EXPECT_EQ(*operations().load_unfinished(), unfinished);
}

TEST_P(OperationsContract, ListsAreNewestFirstAndPaged) {
  UuidGenerator ids{3};
  const Operation a = plain(ids);
  const Operation b = full(ids);
  const Operation c = plain(ids, OperationStatus::completed);
  for (const Operation& each : {b, a, c}) {
    ASSERT_TRUE(operations().put(each).has_value());
  }
  const auto list = [this](const OperationFilter& filter, const OperationPage& page = {}) {
    return *store_->reader().operations->list(filter, page);
  };
  using List = std::vector<Operation>;
  EXPECT_EQ(list({}), (List{c, b, a}));
  EXPECT_EQ(list({}, {.limit = 1}),
            (List{c, b}));  // One more than the limit, because there are more.
  EXPECT_EQ(list({}, {.limit = 5, .before = b.id}), List{a});
  EXPECT_EQ(list({}, {.limit = 5, .offset = 1}), (List{b, a}));
  EXPECT_EQ(list({.tenant_id = "acme"}), List{b});
  EXPECT_EQ(list({.kinds = {OperationKind::retry_batch}}), (List{c, a}));
  EXPECT_EQ(list({.statuses = {OperationStatus::running, OperationStatus::completed}}),
            (List{c, b}));
}

TEST_P(OperationsContract, RemovesAtMostLimitFinishedOperationsOldestFirst) {
  UuidGenerator ids{3};
  std::vector<Operation> all;
  const auto add = [&](OperationStatus status, std::optional<Millis> finished) {
    Operation operation = plain(ids, status);
    if (finished) {
      operation.finished_at = store_epoch + *finished;
    }
    ASSERT_TRUE(operations().put(operation).has_value());
    all.push_back(operation);
  };
  add(OperationStatus::completed, Millis{30});
  add(OperationStatus::failed, Millis{10});
  add(OperationStatus::cancelled, Millis{20});
  add(OperationStatus::completed, Millis{31});
  add(OperationStatus::scheduled,
      Millis{5});  // It repeats: its last run is finished, the operation is not.
  add(OperationStatus::running, std::nullopt);
  const auto left = [&] {
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (operations().find(all[i].id)) {
        indexes.push_back(i);
      }
    }
    return indexes;
  };
  using Indexes = std::vector<std::size_t>;
  const WallTime before = store_epoch + Millis{30};
  EXPECT_EQ(*operations().remove_finished(before, 2), 2u);
  EXPECT_EQ(left(), (Indexes{0, 3, 4, 5}));
  EXPECT_EQ(*operations().remove_finished(before, 2), 1u);
  EXPECT_EQ(*operations().remove_finished(before, 2), 0u);
  store_->reopen();
  EXPECT_EQ(left(), (Indexes{3, 4, 5}));
}

TEST_P(OperationsContract, ProgressAndItsDeliveriesAreStoredInOneTransaction) {
  UuidGenerator ids{3};
  const Operation operation = plain(ids);
  const Publish missed = script_.publish({});
  commit({.publishes = {missed}});
  Store& store = store_->store();
  const Result<void> done = store.atomically([&]() -> Result<void> {
    POSTRIDER_TRY(const BatchReceipt receipt,
                  store.ledger->commit(
                      {.late_deliveries = {script_.add_late_delivery(missed.event.id, first_)}}));
    EXPECT_TRUE(receipt.late_deliveries.front().has_value());
    return store.operations->put(operation);
  });
  ASSERT_TRUE(done.has_value());
  store_->reopen();
  EXPECT_EQ(*operations().find(operation.id), operation);
  EXPECT_EQ(history().count_deliveries({.webhook_ids = {first_}}, {})->count, 1u);
}

}  // namespace postrider::test
