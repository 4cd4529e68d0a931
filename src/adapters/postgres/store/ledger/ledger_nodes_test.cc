// Two nodes that use one database. While a transaction of the first node is open, the second one
// does something that has to wait for it.
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/contract/store_script.h"
#include "tests/support/open_postgres.h"

namespace postrider::test {
namespace {

using testing::ElementsAre;

const DeadReason gone{Classification::permanent, "http_404"};

class LedgerNodes : public testing::Test {
 protected:
  LedgerNodes() {
    Result<Store> opened = open_postgres_store(one_.options());
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    other_ = *std::move(opened);
  }

  [[nodiscard]] Store& first() { return one_.store(); }
  [[nodiscard]] Store& second() { return other_; }
  [[nodiscard]] Reader& reader() { return one_.reader(); }

  static BatchReceipt commit(Store& node, const Batch& batch) {
    Result<BatchReceipt> receipt = node.ledger->commit(batch);
    EXPECT_TRUE(receipt.has_value()) << receipt.error().message;
    return receipt ? *std::move(receipt) : BatchReceipt{};
  }

  std::vector<Delivery> publish(const std::vector<WebhookId>& to,
                                const PublishOptions& options = {}) {
    const BatchReceipt receipt = commit(first(), {.publishes = {script_.publish(to, options)}});
    return std::get<Accepted>(receipt.publishes.at(0)).deliveries;
  }

  /// Runs `earlier` in a transaction of the first node, and before that ends starts `later`, which
  /// waits for it.
  void overlap(const std::function<void()>& earlier, const std::function<void()>& later) {
    std::jthread thread;
    const Result<void> done = first().atomically([&]() -> Result<void> {
      earlier();
      thread = std::jthread{later};
      run_as_admin(
          "DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM pg_stat_activity"
          "  WHERE usename = 'app' AND wait_event_type = 'Lock') LOOP"
          "  PERFORM pg_sleep(0.002); PERFORM pg_stat_clear_snapshot(); END LOOP; END $$");
      return {};
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }

  DeliveryRecord record(DeliveryId id) { return reader().history->find_delivery(id).value(); }

  DeliveryTally total() {
    DeliveryTally sum;
    const StatsFilter filter{.from = script_.now - std::chrono::hours{1},
                             .to = script_.now + std::chrono::hours{1}};
    const auto spans = reader().stats->over_time(filter, stats_span);
    for (const SpanTally& span : spans.value()) {
      sum.add(span.tally);
    }
    return sum;
  }

  FannedOut fan_out(Store& node, std::uint32_t limit) {
    UuidGenerator ids{&node == &second() ? 12u : 11u};
    Result<FannedOut> done =
        node.ledger->fan_out({.tenant_id = "acme",
                              .limit = limit,
                              .now = script_.now,
                              .due_max = script_.now,
                              .exists = [](WebhookId) { return true; },
                              .new_id = [&] { return ids.make<DeliveryId>(script_.now); }});
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return done ? *std::move(done) : FannedOut{};
  }

  OpenPostgres one_;
  Store other_;
  StoreScript script_;
  const WebhookId webhook_ = StoreScript::webhook(1);
  const WebhookId another_ = StoreScript::webhook(2);
};

TEST_F(LedgerNodes, AKeyThatAnotherNodeIsTakingGivesADuplicate) {
  const Publish winner = script_.publish({webhook_}, {.key = "k"});
  const Publish loser = script_.publish({webhook_}, {.key = "k"});
  PublishReceipt receipt = Refused{};
  overlap([&] { commit(first(), {.publishes = {winner}}); },
          [&] { receipt = commit(second(), {.publishes = {loser}}).publishes.at(0); });
  const Duplicate duplicate = std::get<Duplicate>(receipt);
  EXPECT_EQ(duplicate.first_id, winner.event.id);
  EXPECT_TRUE(duplicate.same_body);
  EXPECT_EQ(total().published, 1u);
}

TEST_F(LedgerNodes, AnExpiredKeyIsTakenByOneNodeOnly) {
  publish({webhook_}, {.key = "k"});
  script_.now += StoreScript::claim_life;
  const Publish winner = script_.publish({webhook_}, {.key = "k"});
  const Publish loser = script_.publish({webhook_}, {.key = "k"});
  PublishReceipt receipt = Refused{};
  overlap([&] { commit(first(), {.publishes = {winner}}); },
          [&] { receipt = commit(second(), {.publishes = {loser}}).publishes.at(0); });
  EXPECT_EQ(std::get<Duplicate>(receipt).first_id, winner.event.id);
}

TEST_F(LedgerNodes, ARowThatTwoNodesReadBecomesOneEvent) {
  Publish winner = script_.publish({webhook_});
  winner.row = SourceRow{.source = "orders", .row_id = "7"};
  Publish loser = script_.publish({webhook_});
  loser.row = winner.row;
  PublishReceipt receipt = Refused{};
  overlap([&] { commit(first(), {.publishes = {winner}}); },
          [&] { receipt = commit(second(), {.publishes = {loser}}).publishes.at(0); });
  EXPECT_EQ(std::get<Duplicate>(receipt).first_id, winner.event.id);
}

TEST_F(LedgerNodes, ASuccessFindsADeliveryThatAnotherNodeIsReviving) {
  const Delivery delivery = publish({webhook_}).front();
  const Settlement success = script_.success(delivery);
  commit(first(), {.settlements = {script_.death(delivery, gone)}});
  overlap(
      [&] { commit(first(), {.revivals = {{.delivery_id = delivery.id, .now = script_.now}}}); },
      [&] { commit(second(), {.settlements = {success}}); });
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(record(delivery.id).delivery.revivals, 1u);
}

TEST_F(LedgerNodes, ADeliveryThatAnotherNodeIsSettlingCannotBeCancelled) {
  const Delivery delivery = publish({webhook_}).front();
  Result<Delivery> cancelled = delivery;
  overlap([&] { commit(first(), {.settlements = {script_.success(delivery)}}); },
          [&] {
            cancelled = commit(second(), {.cancels = {{delivery.id, script_.now}}}).cancels.front();
          });
  EXPECT_EQ(cancelled.error().code, Errc::conflict);
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
}

TEST_F(LedgerNodes, AnAttemptThatBothNodesRecordIsCountedOnce) {
  const Delivery delivery = publish({webhook_}).front();
  const Settlement retry = script_.retry(delivery, script_.now);
  overlap([&] { commit(first(), {.settlements = {retry}}); },
          [&] { commit(second(), {.settlements = {retry}}); });
  EXPECT_EQ(reader().history->attempts_of(delivery.id)->size(), 1u);
  EXPECT_EQ(total().attempts, 1u);
}

TEST_F(LedgerNodes, BatchesThatNameTheSameDeliveriesInAnyOrderDoNotFail) {
  std::vector<Delivery> deliveries = publish({webhook_, another_});
  for (int round = 0; round < 20; ++round) {
    Batch there;
    for (Delivery& delivery : deliveries) {
      there.settlements.push_back(script_.retry(delivery, script_.now));
      delivery = there.settlements.back().delivery;
    }
    Batch back = there;
    std::swap(back.settlements.front(), back.settlements.back());
    std::jthread thread{[&] { commit(second(), back); }};
    commit(first(), there);
  }
  EXPECT_EQ(reader().history->attempts_of(deliveries[0].id)->size(), 20u);
  EXPECT_EQ(total().attempts, 40u);
}

TEST_F(LedgerNodes, ALateDeliveryThatAnotherNodeIsAddingIsIgnored) {
  const Publish event = script_.publish({});
  commit(first(), {.publishes = {event}});
  const AddLateDelivery winner = script_.add_late_delivery(event.event.id, webhook_);
  const AddLateDelivery loser = script_.add_late_delivery(event.event.id, webhook_);
  std::optional<Delivery> added = loser.delivery;
  overlap([&] { commit(first(), {.late_deliveries = {winner}}); },
          [&] { added = commit(second(), {.late_deliveries = {loser}}).late_deliveries.front(); });
  EXPECT_EQ(added, std::nullopt);
}

TEST_F(LedgerNodes, NotesThatAnotherNodeIsWorkingOffAreContinuedAfterIt) {
  Publish noted = script_.publish({});
  std::vector<WebhookId> webhooks;
  for (std::uint8_t number = 1; number <= 5; ++number) {
    webhooks.push_back(StoreScript::webhook(number));
  }
  noted.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(webhooks),
                        .chosen = {},
                        .count = 5,
                        .due = script_.now};
  commit(first(), {.publishes = {noted}});
  FannedOut earlier;
  FannedOut later;
  overlap([&] { earlier = fan_out(first(), 2); }, [&] { later = fan_out(second(), 9); });
  ASSERT_EQ(later.parts.size(), 1u);
  std::vector<WebhookId> reached;
  for (const FannedOut* step : {&earlier, &later}) {
    for (const Delivery& delivery : step->parts.at(0).deliveries) {
      reached.push_back(delivery.webhook_id);
    }
  }
  EXPECT_EQ(reached, webhooks);
  EXPECT_TRUE(later.finished);
  EXPECT_TRUE(first().ledger->open_fanouts()->empty());
}

TEST_F(LedgerNodes, AnOrderPerTypeHasADeliveryThatAnotherNodeWasAdding) {
  const Delivery before = publish({webhook_}, {.type = "a"}).front();
  LanePage page;
  Delivery during;
  const LoadLane query{.webhook_id = webhook_,
                       .ordering = Ordering::per_event_type,
                       .due_before = script_.now,
                       .limit = 10};
  overlap([&] { during = publish({webhook_}, {.type = "b"}).front(); },
          [&] { page = second().ledger->load_lane(query).value(); });
  EXPECT_THAT(page.deliveries, ElementsAre(before, during));
  const Delivery after = publish({webhook_}, {.type = "c"}).front();
  EXPECT_THAT(second().ledger->load_lane(query)->deliveries, ElementsAre(before, during, after));
}

TEST_F(LedgerNodes, StatisticsOfAllNodesAddUp) {
  const Delivery done = publish({webhook_}).front();
  const Delivery dead = publish({webhook_}).front();
  commit(second(), {.settlements = {script_.success(done), script_.death(dead, gone)}});
  EXPECT_EQ(total().now_succeeded, 1u);
  EXPECT_EQ(total().now_dead_letter, 1u);
  commit(first(), {.revivals = {{.delivery_id = dead.id, .now = script_.now}}});
  EXPECT_EQ(total().now_dead_letter, 0u);
  EXPECT_EQ(total().published, 2u);
  EXPECT_EQ(reader()
                .stats->by_webhook({.from = script_.now, .to = script_.now + Millis{1}})
                ->front()
                .tally.attempts,
            2u);
}

TEST_F(LedgerNodes, ATransactionThatIsUndoneIsNotCounted) {
  publish({webhook_});
  const Publish undone = script_.publish({webhook_});
  EXPECT_FALSE(first().atomically([&]() -> Result<void> {
    commit(first(), {.publishes = {undone}});
    return fail(Errc::conflict, "Undone.");
  }));
  publish({webhook_});
  EXPECT_EQ(total().published, 2u);
  EXPECT_EQ(total().deliveries, 2u);
}

}  // namespace
}  // namespace postrider::test
