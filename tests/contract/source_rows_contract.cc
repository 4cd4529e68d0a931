// Rows of sources whose status is written back: which event a row became, when it is sent again,
// and when it is settled.
#include <string>
#include <variant>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

const std::string orders = "orders";
const DeadReason gave_up{Classification::recoverable, "max_attempts_exceeded"};

RowWrittenBack final_of(const TrackedRow& row) {
  return {.row_id = row.row_id,
          .event_id = row.event_id,
          .generation = row.generation,
          .revision = row.revision,
          .generation_now = row.generation + 1,
          .settled = true};
}

}  // namespace

Publish SourceRowsContract::of_row(const std::string& row_id, const std::vector<WebhookId>& to,
                                   std::uint32_t generation) {
  Publish publish = script_.publish(to, {.key = row_id});
  publish.row = SourceRow{.source = orders, .row_id = row_id, .generation = generation};
  return publish;
}

Delivery SourceRowsContract::accept_row(const std::string& row_id, WebhookId to) {
  const BatchReceipt receipt = commit({.publishes = {of_row(row_id, {to})}});
  return std::get<Accepted>(receipt.publishes.at(0)).deliveries.at(0);
}

std::vector<TrackedRow> SourceRowsContract::unsettled() {
  return reader().unsettled(orders, {}, 100).value().rows;
}

void SourceRowsContract::record(const RowWrittenBack& row) {
  ASSERT_TRUE(writer().record(orders, {row}).has_value());
}

TEST_P(SourceRowsContract, RowIsTrackedWithItsEventAndItsDeliveries) {
  const Publish publish = of_row("7", {first_, second_}, 3);
  const BatchReceipt receipt = commit({.publishes = {publish, script_.publish({first_})}});
  const std::vector<Delivery> deliveries = std::get<Accepted>(receipt.publishes.at(0)).deliveries;
  settle(script_.success(deliveries[0]));
  const WallTime due = script_.now + Millis{5'000};
  settle(script_.retry(deliveries[1], due));
  store_->reopen();

  const std::vector<TrackedRow> rows = unsettled();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].row_id, "7");
  EXPECT_EQ(rows[0].event_id, publish.event.id);
  EXPECT_EQ(rows[0].generation, 3u);
  EXPECT_EQ(rows[0].revision, 0u);
  const RowFacts& facts = rows[0].facts;
  EXPECT_EQ(facts.published_at, publish.event.created_at);
  EXPECT_EQ(facts.expected, 2u);
  EXPECT_EQ(facts.remaining, 0u);
  EXPECT_EQ(facts.waiting, 1u);
  EXPECT_EQ(facts.succeeded, 1u);
  EXPECT_EQ(facts.ended, 0u);
  EXPECT_EQ(facts.attempts, 1u);
  EXPECT_EQ(facts.next_due, due);
  EXPECT_TRUE(facts.failed_at.has_value());
  EXPECT_FALSE(facts.error.empty());
  EXPECT_EQ(row_status(facts).state, RowState::retrying);
}

TEST_P(SourceRowsContract, RowsAreFoundByTheirEvents) {
  const Publish a = of_row("a", {first_});
  const Publish b = of_row("b", {});
  const Publish other = script_.publish({first_});
  commit({.publishes = {a, b, other}});
  const auto rows = reader().rows_of(orders, {b.event.id, other.event.id});
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->at(0).row_id, "b");
  EXPECT_EQ(row_status(rows->at(0).facts).state, RowState::delivered);
  EXPECT_TRUE(reader().rows_of("others", {a.event.id, b.event.id})->empty());
}

TEST_P(SourceRowsContract, PagesAreInPublishOrder) {
  for (const char* id : {"z", "y", "x", "w", "v"}) {
    commit({.publishes = {of_row(id, {first_})}});
  }
  std::string order;
  RowCursor after;
  for (int pages = 0; pages < 4; ++pages) {
    const TrackedRowPage page = reader().unsettled(orders, after, 2).value();
    for (const TrackedRow& row : page.rows) {
      order += row.row_id;
    }
    if (!page.next) {
      break;
    }
    after = *page.next;
  }
  EXPECT_EQ(order, "zyxwv");
}

TEST_P(SourceRowsContract, RowThatIsOfferedAgainIsADuplicateWhateverItsBodyIsNow) {
  const Publish first = of_row("7", {first_});
  commit({.publishes = {first}});
  Publish again = of_row("7", {first_});
  again.claim->body_digest = "other";
  script_.now += StoreScript::claim_life + StoreScript::claim_life;
  Publish late = of_row("7", {first_});  // The key is free again, the row is still under way.
  const BatchReceipt receipt = commit({.publishes = {again, late}});
  for (const PublishReceipt& each : receipt.publishes) {
    const Duplicate duplicate = std::get<Duplicate>(each);
    EXPECT_EQ(duplicate.first_id, first.event.id);
    EXPECT_EQ(duplicate.first_deliveries, 1u);
    EXPECT_TRUE(duplicate.same_body);
    EXPECT_FALSE(duplicate.finished);
  }
  EXPECT_EQ(unsettled().size(), 1u);
}

TEST_P(SourceRowsContract, SettledRowIsSentAgainAlthoughItsKeyIsUsed) {
  settle(script_.success(accept_row("7", first_)));
  record(final_of(unsettled().at(0)));
  EXPECT_TRUE(unsettled().empty());
  store_->reopen();

  const Publish again = of_row("7", {first_, second_}, 1);
  const BatchReceipt receipt = commit({.publishes = {again}});
  EXPECT_EQ(std::get<Accepted>(receipt.publishes.at(0)).deliveries.size(), 2u);
  const std::vector<TrackedRow> rows = unsettled();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].event_id, again.event.id);
  EXPECT_EQ(rows[0].generation, 1u);
  // The key now belongs to the new event.
  const Duplicate duplicate = std::get<Duplicate>(publish({first_}, {.key = "7"}));
  EXPECT_EQ(duplicate.first_id, again.event.id);
}

TEST_P(SourceRowsContract, HigherGenerationIsSentAgainAlthoughTheRowIsNotSettled) {
  settle(script_.success(accept_row("7", first_)));  // Written back, and then the server crashed.
  const TrackedRow before = unsettled().at(0);
  const Publish again = of_row("7", {first_}, 1);
  const BatchReceipt receipt = commit({.publishes = {again}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  record(final_of(before));  // Too late: the row has another event.
  EXPECT_EQ(unsettled().at(0).event_id, again.event.id);
}

TEST_P(SourceRowsContract, RowWithAUsedKeyRefersToTheEventThatHasTheKey) {
  const Publish earlier = script_.publish({first_}, {.key = "7"});
  commit({.publishes = {earlier}});
  const BatchReceipt receipt = commit({.publishes = {of_row("7", {first_})}});
  EXPECT_TRUE(std::get<Duplicate>(receipt.publishes.at(0)).same_body);
  EXPECT_EQ(unsettled().at(0).event_id, earlier.event.id);
}

TEST_P(SourceRowsContract, RowWithAKeyOfAnotherBodyIsNotTracked) {
  commit({.publishes = {script_.publish({first_}, {.key = "7", .body_digest = "other"})}});
  const BatchReceipt receipt = commit({.publishes = {of_row("7", {first_})}});
  EXPECT_FALSE(std::get<Duplicate>(receipt.publishes.at(0)).same_body);
  EXPECT_TRUE(unsettled().empty());
}

TEST_P(SourceRowsContract, RevivalMakesARowUnsettledAgain) {
  const Delivery delivery = accept_row("7", first_);
  settle(script_.death(delivery, gave_up));
  const TrackedRow failed = unsettled().at(0);
  EXPECT_EQ(row_status(failed.facts).state, RowState::failed);
  record(final_of(failed));
  EXPECT_TRUE(unsettled().empty());

  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now, .priority = {}}));
  store_->reopen();
  const TrackedRow revived = unsettled().at(0);
  EXPECT_EQ(revived.generation, 1u);
  EXPECT_EQ(revived.revision, 1u);
  EXPECT_EQ(row_status(revived.facts).state, RowState::retrying);
}

TEST_P(SourceRowsContract, RevivalBetweenReadingAndRecordingKeepsTheRowUnsettled) {
  const Delivery delivery = accept_row("7", first_);
  settle(script_.death(delivery, gave_up));
  const TrackedRow failed = unsettled().at(0);
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now, .priority = {}}));
  record(final_of(failed));
  EXPECT_EQ(unsettled().at(0).generation, 1u);  // The final status was written.
  record(final_of(failed));                     // Repeated: another generation.
  EXPECT_EQ(unsettled().at(0).generation, 1u);
}

TEST_P(SourceRowsContract, LateDeliveryMakesARowUnsettledAgain) {
  const Delivery delivery = accept_row("7", first_);
  settle(script_.success(delivery));
  record(final_of(unsettled().at(0)));
  ASSERT_TRUE(add_late_delivery(delivery.event_id, second_).has_value());
  const TrackedRow row = unsettled().at(0);
  EXPECT_EQ(row.revision, 1u);
  EXPECT_EQ(row_status(row.facts).state, RowState::pending);
}

TEST_P(SourceRowsContract, LateSuccessOfACancelledDeliveryMakesARowUnsettledAgain) {
  const Delivery delivery = accept_row("7", first_);
  ASSERT_TRUE(cancel(delivery.id));
  const TrackedRow cancelled = unsettled().at(0);
  EXPECT_EQ(row_status(cancelled.facts).last_error, "The webhook was removed.");
  record(final_of(cancelled));
  settle(script_.success(delivery));
  EXPECT_EQ(row_status(unsettled().at(0).facts).state, RowState::delivered);
}

TEST_P(SourceRowsContract, CancelledDeliveryOfAStoredWebhookSaysSo) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)));
  ASSERT_TRUE(cancel(accept_row("7", first_).id));
  EXPECT_EQ(row_status(unsettled().at(0).facts).last_error, "The delivery was cancelled.");
}

TEST_P(SourceRowsContract, DeliveriesThatAreStillToBeMadeKeepTheRowUnderWay) {
  Publish noted = of_row("7", {});
  noted.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(
                            std::vector<WebhookId>{first_, second_}),
                        .chosen = {},
                        .count = 2,
                        .due = script_.now};
  commit({.publishes = {noted}});
  const RowFacts before = unsettled().at(0).facts;
  EXPECT_EQ(before.expected, 2u);
  EXPECT_EQ(before.remaining, 2u);
  UuidGenerator ids{5};
  const auto done = ledger().fan_out({.tenant_id = "acme",
                                      .limit = 9,
                                      .now = script_.now,
                                      .due_max = script_.now,
                                      .exists = [](WebhookId) { return true; },
                                      .new_id = [&] { return ids.make<DeliveryId>(script_.now); }});
  ASSERT_TRUE(done.has_value());
  const RowFacts after = unsettled().at(0).facts;
  EXPECT_EQ(after.remaining, 0u);
  EXPECT_EQ(after.waiting, 2u);
}

TEST_P(SourceRowsContract, RetentionRemovesRowsWithTheirEvent) {
  const Delivery delivery = accept_row("7", first_);
  settle(script_.success(delivery));
  record(final_of(unsettled().at(0)));
  script_.now += StoreScript::claim_life + StoreScript::claim_life;
  const RetentionCutoffs cutoffs{.now = script_.now, .events = script_.now, .dead_letters = {}};
  const auto expired = retention_reader().expired_events({.cutoffs = cutoffs});
  ASSERT_EQ(expired->items.size(), 1u);
  EXPECT_EQ(retention_writer().remove({key_of(expired->items[0])}, cutoffs)->events, 1u);
  const BatchReceipt receipt = commit({.publishes = {of_row("7", {first_})}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  EXPECT_EQ(unsettled().size(), 1u);
}

TEST_P(SourceRowsContract, StoreHasAnIdThatStays) {
  const std::string id = writer().store_id().value();
  EXPECT_FALSE(id.empty());
  store_->reopen();
  EXPECT_EQ(writer().store_id().value(), id);
}

TEST_P(SourceRowsContract, IdOfTheSourceIsStoredWithTheEvent) {
  Publish publish = of_row("7", {first_});
  publish.event.source_id = "7";
  commit({.publishes = {publish}});
  store_->reopen();
  EXPECT_EQ(ledger().load_events({publish.event.id})->at(0).source_id, "7");
  EXPECT_EQ(history().find_event(publish.event.id)->source_id, "7");
}

}  // namespace postrider::test
