// Events with many deliveries: a note is stored with the event, and the deliveries are made from it
// in steps.
#include <set>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

std::vector<WebhookId> webhooks(std::uint8_t first, std::uint8_t last) {
  std::vector<WebhookId> ids;
  for (std::uint8_t number = first; number <= last; ++number) {
    ids.push_back(StoreScript::webhook(number));
  }
  return ids;
}

std::vector<WebhookId> receivers(const FannedOut& step) {
  std::vector<WebhookId> ids;
  for (const FannedOut::Part& part : step.parts) {
    for (const Delivery& delivery : part.deliveries) {
      ids.push_back(delivery.webhook_id);
    }
  }
  return ids;
}

using Open = std::map<TenantId, std::uint64_t>;

}  // namespace

Publish FanoutContract::noted(const std::vector<WebhookId>& to, const PublishOptions& options,
                              const std::string& chosen, std::uint32_t count) {
  Publish publish = script_.publish({}, options);
  publish.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(to),
                          .chosen = chosen,
                          .count = count == 0 ? static_cast<std::uint32_t>(to.size()) : count,
                          .due = script_.now + options.due_in};
  return publish;
}

FannedOut FanoutContract::step(std::uint32_t limit, const TenantId& tenant_id) {
  Result<FannedOut> done =
      ledger().fan_out({.tenant_id = tenant_id,
                        .limit = limit,
                        .now = script_.now + Millis{50},
                        .due_max = script_.now + Millis{40},
                        .exists = [this](WebhookId id) { return !removed_.contains(id); },
                        .new_id = [this] { return ids_.make<DeliveryId>(script_.now); }});
  EXPECT_TRUE(done.has_value()) << done.error().message;
  return done ? *std::move(done) : FannedOut{};
}

Open FanoutContract::open() { return ledger().open_fanouts().value(); }

TEST_P(FanoutContract, StoresTheEventWithANoteInsteadOfDeliveries) {
  const Publish publish = noted(webhooks(1, 7));
  const BatchReceipt receipt = commit({.publishes = {publish}});
  EXPECT_EQ(receipt.publishes.front(),
            (PublishReceipt{Accepted{.deliveries = {}, .fanned_out = 7}}));
  EXPECT_EQ(receipt.fanouts, (Open{{"acme", 7}}));
  EXPECT_EQ(receipt.waiting_change.total(), 0);
  EXPECT_EQ(open(), (Open{{"acme", 7}}));
  EXPECT_EQ(history().fanout_remaining(publish.event.id), 7u);
  EXPECT_EQ(as_published(*history().find_event(publish.event.id)), publish.event);
  EXPECT_TRUE(history().list_events({.matched = false}, {})->items.empty());
  EXPECT_EQ(history().list_events({.matched = true}, {})->items.size(), 1u);
  EXPECT_TRUE(ledger().backlog()->empty());
}

TEST_P(FanoutContract, MakesTheDeliveriesInStepsOnceEach) {
  const Publish publish = noted(webhooks(1, 7), {.priority = Priority::high, .due_in = Millis{3}});
  commit({.publishes = {publish}});
  const FannedOut first = step(5);
  EXPECT_FALSE(first.finished);
  ASSERT_EQ(first.parts.size(), 1u);
  EXPECT_EQ(as_published(first.parts[0].event), publish.event);
  EXPECT_GT(first.parts[0].event.sequence, 0);
  EXPECT_EQ(receivers(first), webhooks(1, 5));
  EXPECT_EQ(history().fanout_remaining(publish.event.id), 2u);
  EXPECT_EQ(open(), (Open{{"acme", 2}}));

  const FannedOut second = step(5);
  EXPECT_TRUE(second.finished);
  EXPECT_EQ(receivers(second), webhooks(6, 7));
  EXPECT_EQ(open(), Open{});
  EXPECT_EQ(history().fanout_remaining(publish.event.id), 0u);
  const FannedOut nothing = step(5);
  EXPECT_TRUE(nothing.finished);
  EXPECT_TRUE(nothing.parts.empty());

  const Delivery& made = second.parts[0].deliveries.front();
  EXPECT_EQ(made.event_id, publish.event.id);
  EXPECT_EQ(made.event_type, publish.event.type);
  EXPECT_EQ(made.priority, Priority::high);
  EXPECT_EQ(made.state, DeliveryState::pending);
  EXPECT_EQ(made.trigger, Trigger::scheduled);
  EXPECT_EQ(made.due, script_.now + Millis{3});
  EXPECT_EQ(record(made.id).delivery, made);
  EXPECT_EQ(record(made.id).created_at, script_.now + Millis{50});
  EXPECT_EQ(ledger().count_waiting()->total(), 7);
  EXPECT_EQ(
      load({.webhook_id = made.webhook_id, .due_before = WallTime::max(), .limit = 5}).deliveries,
      std::vector{made});
  DeliveryFilter of_event;
  of_event.event_id = publish.event.id;
  EXPECT_EQ(history().list_deliveries(of_event, {.limit = 50})->items.size(), 7u);
  settle(script_.success(made));
  EXPECT_EQ(record(made.id).delivery.state, DeliveryState::succeeded);
}

TEST_P(FanoutContract, ContinuesAfterARestart) {
  commit({.publishes = {noted(webhooks(1, 9))}});
  const FannedOut first = step(4);
  store_->reopen();
  EXPECT_EQ(open(), (Open{{"acme", 5}}));
  const FannedOut second = step(100);
  EXPECT_EQ(receivers(second), webhooks(5, 9));
  EXPECT_GT(second.parts[0].deliveries.front().sequence, first.parts[0].deliveries.back().sequence);
  store_->reopen();
  EXPECT_EQ(open(), Open{});
  EXPECT_EQ(ledger().count_waiting()->total(), 9);
}

TEST_P(FanoutContract, AListMayBeSharedAndReachOnlySomeOfItsWebhooks) {
  std::vector<WebhookId> to = webhooks(1, 200);
  const auto list = std::make_shared<const std::vector<WebhookId>>(to);
  Publish some = noted(to, {}, std::string(25, '\0'), 2);
  some.fanout->webhooks = list;
  some.fanout->chosen[0] = 0b100;                            // Webhook 3.
  some.fanout->chosen[24] = static_cast<char>(0b1000'0000);  // Webhook 200.
  Publish all = noted(to);
  all.fanout->webhooks = list;
  commit({.publishes = {some, all}});
  EXPECT_EQ(receivers(step(1)), webhooks(3, 3));
  store_->reopen();
  const FannedOut rest = step(50);
  ASSERT_EQ(rest.parts.size(), 2u);
  EXPECT_EQ(rest.parts[0].deliveries.front().webhook_id, to.back());
  EXPECT_EQ(rest.parts[1].deliveries.size(), 49u);
  EXPECT_EQ(step(1'000).parts[0].deliveries.size(), 151u);
  EXPECT_EQ(open(), Open{});
}

TEST_P(FanoutContract, AListOfManyPartsIsReadCompletely) {
  std::vector<WebhookId> to;
  for (std::uint32_t i = 0; i < 1'300; ++i) {
    WebhookId id = first_;
    id.bytes[13] = static_cast<std::uint8_t>(i >> 8);
    id.bytes[14] = static_cast<std::uint8_t>(i);
    to.push_back(id);
  }
  commit({.publishes = {noted(to)}});
  std::vector<WebhookId> reached;
  for (int steps = 0; steps < 10 && !open().empty(); ++steps) {
    const std::vector<WebhookId> part = receivers(step(500));
    reached.insert(reached.end(), part.begin(), part.end());
    store_->reopen();
  }
  EXPECT_EQ(reached, to);
}

TEST_P(FanoutContract, ARemovedWebhookGetsNothing) {
  commit({.publishes = {noted(webhooks(1, 4))}});
  removed_ = {first_, StoreScript::webhook(4)};
  const FannedOut done = step(4);
  EXPECT_EQ(receivers(done), webhooks(2, 3));
  EXPECT_EQ(done.left_out, 2u);
  EXPECT_EQ(open(), Open{});
}

TEST_P(FanoutContract, NotesOfATenantAreWorkedOffInPublishOrderAndThoseOfOthersApart) {
  const Publish one = noted(webhooks(1, 3));
  const Publish two = noted(webhooks(1, 2));
  const Publish other = noted(webhooks(5, 6), {.tenant_id = "other"});
  commit({.publishes = {one, two}});
  EXPECT_EQ(commit({.publishes = {other}}).fanouts, (Open{{"other", 2}}));
  EXPECT_EQ(open(), (Open{{"acme", 5}, {"other", 2}}));
  const FannedOut of_other = step(10, "other");
  EXPECT_EQ(receivers(of_other), webhooks(5, 6));
  EXPECT_TRUE(of_other.finished);
  const FannedOut done = step(4);
  ASSERT_EQ(done.parts.size(), 2u);
  EXPECT_EQ(done.parts[0].event.id, one.event.id);
  EXPECT_EQ(done.parts[0].deliveries.size(), 3u);
  EXPECT_EQ(done.parts[1].event.id, two.event.id);
  EXPECT_EQ(done.parts[1].deliveries.size(), 1u);
  EXPECT_TRUE(step(10, "nobody").finished);
}

TEST_P(FanoutContract, ADeliveryIsDueAtOnceAlsoAfterTheClockWasSetBack) {
  commit({.publishes = {noted(webhooks(1, 1), {.due_in = std::chrono::hours{1}})}});
  EXPECT_EQ(step(1).parts.at(0).deliveries.at(0).due, script_.now + Millis{40});
}

TEST_P(FanoutContract, AnOrderedPublishComesBehindTheNotesOfItsTenant) {
  commit({.publishes = {noted(webhooks(1, 3))}});
  Publish ordered = script_.publish({second_, StoreScript::webhook(9)}, {.due_in = Millis{7}});
  ordered.ordered = true;
  Publish foreign = script_.publish({first_}, {.tenant_id = "other"});
  foreign.ordered = true;
  Publish unmatched = script_.publish({});
  unmatched.ordered = true;
  const BatchReceipt receipt =
      commit({.publishes = {ordered, foreign, unmatched, script_.publish({second_})}});
  EXPECT_EQ(receipt.publishes[0], (PublishReceipt{Accepted{.deliveries = {}, .fanned_out = 2}}));
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[1]).deliveries.size(), 1u);
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[2]).fanned_out, 0u);
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[3]).deliveries.size(), 1u) << "needs no order";
  store_->reopen();
  const FannedOut done = step(10);
  ASSERT_EQ(done.parts.size(), 2u);
  EXPECT_EQ(done.parts[1].event.id, ordered.event.id);
  EXPECT_EQ(done.parts[1].deliveries.front().due, script_.now + Millis{7});
  EXPECT_LT(done.parts[0].deliveries[1].sequence, done.parts[1].deliveries[0].sequence);
  // Nothing is open any more.
  Publish next = script_.publish({second_});
  next.ordered = true;
  EXPECT_EQ(std::get<Accepted>(commit({.publishes = {next}}).publishes[0]).deliveries.size(), 1u);
}

TEST_P(FanoutContract, AnOrderedPublishComesBehindANoteOfTheSameBatch) {
  Publish ordered = script_.publish({second_});
  ordered.ordered = true;
  const BatchReceipt receipt = commit({.publishes = {ordered, noted(webhooks(1, 3)), [&] {
                                                       Publish later = script_.publish({second_});
                                                       later.ordered = true;
                                                       return later;
                                                     }()}});
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[0]).deliveries.size(), 1u);
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[1]).fanned_out, 3u);
  EXPECT_EQ(std::get<Accepted>(receipt.publishes[2]).fanned_out, 1u);
}

TEST_P(FanoutContract, ARepeatAnswersTheSameCountAndIsUnfinishedUntilAllIsDelivered) {
  const PublishOptions keyed{.key = "k"};
  const Publish publish = noted(webhooks(1, 2), keyed);
  const BatchReceipt receipt = commit({.publishes = {publish, noted(webhooks(1, 2), keyed)}});
  const Duplicate expected{
      .first_id = publish.event.id, .first_deliveries = 2, .same_body = true, .finished = false};
  EXPECT_EQ(receipt.publishes[1], PublishReceipt{expected});
  EXPECT_EQ(open(), (Open{{"acme", 2}}));
  const auto repeat = [&] { return commit({.publishes = {noted(webhooks(1, 2), keyed)}}); };
  EXPECT_EQ(repeat().publishes[0], PublishReceipt{expected});
  const FannedOut first = step(1);
  settle(script_.success(first.parts[0].deliveries[0]));
  EXPECT_EQ(repeat().publishes[0], PublishReceipt{expected}) << "one is still to be made";
  removed_ = {second_};
  step(1);
  Duplicate finished = expected;
  finished.finished = true;
  EXPECT_EQ(repeat().publishes[0], PublishReceipt{finished});
  EXPECT_EQ(open(), Open{});
}

TEST_P(FanoutContract, AnAtomicGroupIsStoredWithItsNotesOrNotAtAll) {
  commit({.publishes = {script_.publish({}, {.key = "k"})}});
  Publish note = noted(webhooks(1, 3), {.atomic_group = 7});
  const Publish conflict =
      script_.publish({}, {.key = "k", .body_digest = "other", .atomic_group = 7});
  const BatchReceipt receipt = commit({.publishes = {note, conflict}});
  EXPECT_EQ(receipt.publishes[0], PublishReceipt{Refused{}});
  EXPECT_TRUE(receipt.fanouts.empty());
  EXPECT_EQ(open(), Open{});
}

TEST_P(FanoutContract, ALateDeliveryDoesNotAnticipateANote) {
  const Publish publish = noted(webhooks(1, 3));
  commit({.publishes = {publish}});
  step(1);
  EXPECT_EQ(add_late_delivery(publish.event.id, first_), std::nullopt) << "has one";
  EXPECT_EQ(add_late_delivery(publish.event.id, second_), std::nullopt) << "will get one";
  EXPECT_NE(add_late_delivery(publish.event.id, StoreScript::webhook(9)), std::nullopt);
  EXPECT_EQ(receivers(step(9)), webhooks(2, 3));
  Publish some = noted(webhooks(1, 8), {}, std::string(1, 0b10), 1);
  commit({.publishes = {some}});
  EXPECT_NE(add_late_delivery(some.event.id, first_), std::nullopt) << "was not chosen";
  EXPECT_EQ(add_late_delivery(some.event.id, second_), std::nullopt);
}

TEST_P(FanoutContract, RetentionKeepsAnEventUntilItsDeliveriesAreMade) {
  const Publish publish = noted(webhooks(1, 2));
  commit({.publishes = {publish}});
  const auto cutoffs = cutoffs_at({.events = Millis{1'000}, .dead_letters = Millis{1'000}},
                                  script_.now + Millis{1'000'000});
  const auto expired = [&] {
    return retention_reader().expired_events({.cutoffs = cutoffs})->items;
  };
  EXPECT_TRUE(expired().empty());
  const std::int64_t sequence = history().find_event(publish.event.id)->sequence;
  EXPECT_EQ(retention_writer().remove({{.sequence = sequence}}, cutoffs)->events, 0u);
  const FannedOut made = step(9);
  for (const Delivery& delivery : made.parts[0].deliveries) {
    settle(script_.success(delivery));
  }
  ASSERT_EQ(expired().size(), 1u);
  EXPECT_EQ(expired().front().deliveries.size(), 2u);
  EXPECT_EQ(retention_writer().remove({{.sequence = sequence}}, cutoffs)->deliveries, 2u);
}

TEST_P(FanoutContract, StatisticsCountTheDeliveriesWhenTheyAreMade) {
  commit({.publishes = {noted(webhooks(1, 3))}});
  const auto total = [&] {
    DeliveryTally sum;
    const auto spans = stats().over_time(
        {.from = script_.now - Millis{600'000}, .to = script_.now + Millis{600'000}}, stats_span);
    for (const SpanTally& span : *spans) {
      sum.published += span.tally.published;
      sum.deliveries += span.tally.deliveries;
    }
    return std::pair{sum.published, sum.deliveries};
  };
  EXPECT_EQ(total(), (std::pair<std::uint64_t, std::uint64_t>{1, 0}));
  step(9);
  EXPECT_EQ(total(), (std::pair<std::uint64_t, std::uint64_t>{1, 3}));
}

}  // namespace postrider::test
