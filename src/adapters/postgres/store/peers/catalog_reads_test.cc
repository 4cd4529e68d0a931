// The versions of the catalogue, and the changes that lead to them.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/peers/cluster_fixture.h"

namespace postrider::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CatalogReadsTest : public ClusterTest {
 protected:
  CatalogVersion version() { return b_.peers().catalog_version().value(); }

  /// What B sees of `change`. Fails the test if it takes more than one version.
  CatalogChanges changes_of(const std::function<Result<void>()>& change) {
    const CatalogVersion before = version();
    const Result<void> done = change();
    EXPECT_TRUE(done.has_value()) << done.error().message;
    const Result<CatalogChanges> changes = b_.peers().changes_since(before);
    EXPECT_TRUE(changes.has_value()) << changes.error().message;
    EXPECT_FALSE(changes->incomplete);
    EXPECT_EQ(changes->version, version());
    EXPECT_LE(changes->version, before + 1);
    return *changes;
  }
  std::vector<CatalogPart> parts_of(const std::function<Result<void>()>& change) {
    const CatalogChanges changes = changes_of(change);
    EXPECT_THAT(changes.webhooks, IsEmpty());
    return changes.parts;
  }
  std::vector<CatalogPart> parts_of(const std::string& sql) {
    return parts_of([&]() -> Result<void> {
      run(sql);
      return {};
    });
  }

  [[nodiscard]] Store& store() const { return const_cast<Store&>(a_.store); }

  static ApiKey key(std::uint8_t number) {
    return {.id = KeyId{{number}},
            .name = "key",
            .sha256 = std::string(32, 'k'),
            .created_at = store_epoch};
  }
};

TEST_F(CatalogReadsTest, EachChangeOfWebhooksIsSeen) {
  const auto put = [&](WebhookId id) { return store().catalog->put_webhook(sample_webhook(id)); };
  EXPECT_THAT(changes_of([&] { return put(webhook_); }).webhooks, ElementsAre(webhook_));
  EXPECT_THAT(changes_of([&] { return put(webhook_); }).webhooks, ElementsAre(webhook_));
  const CatalogChanges both = changes_of([&] {
    return store().atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(put(another_));
      POSTRIDER_CHECK(put(webhook_));
      return store().catalog->remove_webhook(webhook_, script_.now);
    });
  });
  EXPECT_THAT(both.webhooks, ElementsAre(webhook_, another_));
  EXPECT_THAT(both.parts, IsEmpty());
  EXPECT_THAT(changes_of([]() -> Result<void> { return {}; }).webhooks, IsEmpty());
  EXPECT_THAT(changes_of([&]() -> Result<void> {
                run("DELETE FROM webhook WHERE tenant_id = 'nobody'");
                return {};
              }).webhooks,
              IsEmpty());
}

TEST_F(CatalogReadsTest, WhatIsRolledBackIsNoChange) {
  const CatalogVersion before = version();
  EXPECT_FALSE(store().atomically([&]() -> Result<void> {
    POSTRIDER_CHECK(store().catalog->put_webhook(sample_webhook(webhook_)));
    return fail(Errc::conflict, "Undone.");
  }));
  EXPECT_EQ(version(), before);
  EXPECT_THAT(b_.peers().changes_since(before)->webhooks, IsEmpty());
}

TEST_F(CatalogReadsTest, EachChangeOfAccessIsSeen) {
  const auto apply = [&](RegistryChange change) {
    return [&, change = std::move(change)] { return store().registry->apply(change); };
  };
  const std::vector<CatalogPart> access{CatalogPart::access};
  EXPECT_EQ(parts_of(apply(AddKey{key(1)})), access);
  EXPECT_EQ(parts_of(apply(AddKey{key(1)})), access);
  EXPECT_THAT(parts_of(apply(NoteKeyUses{{{KeyId{{1}}, script_.now}}})), IsEmpty());
  ApiKey session = key(2);
  session.expires_at = script_.now;
  session.session = SessionOrigin{.parent = KeyId{{1}}};
  EXPECT_EQ(parts_of(apply(AddSession{session})), access);
  EXPECT_EQ(parts_of(apply(EndSessions{{KeyId{{2}}}})), access);
  EXPECT_EQ(parts_of(apply(AddLink{{.sha256 = std::string(32, 'l'),
                                    .tenant_id = "acme",
                                    .session = Millis{1},
                                    .expires_at = script_.now,
                                    .created_by = KeyId{{1}}}})),
            access);
  EXPECT_EQ(parts_of(apply(SweepExpired{script_.now})), access);
  EXPECT_THAT(parts_of(apply(SweepExpired{script_.now})), IsEmpty());
  EXPECT_EQ(parts_of(apply(RemoveKey{KeyId{{1}}})), access);
  EXPECT_THAT(parts_of(apply(RemoveKey{KeyId{{1}}})), IsEmpty());
  const RegisteredTenant tenant{
      .id = "acme", .serial = TenantSerial{{1}}, .metadata = "{}", .created_at = script_.now};
  EXPECT_EQ(parts_of(apply(AddTenant{tenant})), access);
  EXPECT_EQ(parts_of(apply(SuspendTenant{"acme", script_.now, "why"})), access);
  EXPECT_EQ(parts_of(apply(RemoveTenant{"acme"})), access);
}

TEST_F(CatalogReadsTest, EachChangeOfEventTypesAndChannelsIsSeen) {
  const EventType type{
      .name = "order.created", .created_at = script_.now, .updated_at = script_.now};
  const std::vector<CatalogPart> event_types{CatalogPart::event_types};
  EXPECT_EQ(parts_of([&] { return store().event_types->put(type); }), event_types);
  EXPECT_EQ(parts_of([&] { return store().event_types->put(type); }), event_types);
  EXPECT_EQ(parts_of([&] { return store().event_types->remove(type.name); }), event_types);
  const NotificationChannel channel{.id = ChannelId{{1}}, .name = "mail"};
  const std::vector<CatalogPart> channels{CatalogPart::channels};
  EXPECT_EQ(parts_of([&] { return store().notifications->put_channel(channel); }), channels);
  EXPECT_EQ(parts_of([&] { return store().notifications->remove_channel(channel.id); }), channels);
  EXPECT_EQ(parts_of("DELETE FROM notification_channel"), channels);
}

TEST_F(CatalogReadsTest, AnOperationIsAChangeWhenItIsAddedAndWhenItsStatusChanges) {
  Operation operation;
  operation.id = OperationId{{1}};
  const auto put = [&] { return store().operations->put(operation); };
  const std::vector<CatalogPart> operations{CatalogPart::operations};
  EXPECT_EQ(parts_of(put), operations);
  operation.done = 7;
  EXPECT_THAT(parts_of(put), IsEmpty());
  operation.status = OperationStatus::running;
  EXPECT_EQ(parts_of(put), operations);
  run("UPDATE operation SET succeeded = 9");
  EXPECT_EQ(parts_of("UPDATE operation SET status = 4, finished_at = 0"), operations);
  EXPECT_THAT(parts_of([&]() -> Result<void> {
                POSTRIDER_CHECK(store().operations->remove_finished(script_.now, 10));
                return {};
              }),
              IsEmpty());
}

TEST_F(CatalogReadsTest, DeliveriesAreNoChange) {
  const CatalogVersion before = version();
  const Delivery delivery = publish(a_, {webhook_}).front();
  hold(b_, webhook_);
  commit(b_, {.settlements = {script_.success(delivery)}});
  EXPECT_EQ(version(), before);
}

TEST_F(CatalogReadsTest, TenThousandWebhooksOfOneStatementAreOneChange) {
  ASSERT_TRUE(store().catalog->put_webhook(sample_webhook(webhook_)).has_value());
  run("CREATE TEMP TABLE copy AS SELECT * FROM webhook;"
      " INSERT INTO webhook SELECT (jsonb_populate_record(c,"
      "  jsonb_build_object('id', gen_random_uuid()))).* FROM copy c, generate_series(1, 10000)");
  const CatalogChanges changes = changes_of([&]() -> Result<void> {
    run("UPDATE webhook SET paused = 1");
    return {};
  });
  EXPECT_EQ(changes.webhooks.size(), 10'001u);
}

TEST_F(CatalogReadsTest, ChangesThatAreNoLongerKnownAreIncomplete) {
  const auto put = [&] { return store().catalog->put_webhook(sample_webhook(webhook_)); };
  const CatalogVersion first = version();
  ASSERT_TRUE(put().has_value());
  const CatalogVersion second = version();
  run("UPDATE catalog_change SET at = at - interval '7 hours'");
  ASSERT_TRUE(put().has_value());
  EXPECT_FALSE(b_.peers().changes_since(first)->incomplete);
  ASSERT_TRUE(a_.peers().remove_old().has_value());
  EXPECT_TRUE(b_.peers().changes_since(first)->incomplete);
  const CatalogChanges rest = b_.peers().changes_since(second).value();
  EXPECT_FALSE(rest.incomplete);
  EXPECT_THAT(rest.webhooks, ElementsAre(webhook_));
  EXPECT_EQ(version(), second + 1);
  ASSERT_TRUE(a_.peers().remove_old().has_value());
  EXPECT_FALSE(b_.peers().changes_since(second)->incomplete);
  // As after a backup of the database was restored.
  EXPECT_TRUE(b_.peers().changes_since(second + 2)->incomplete);
}

TEST_F(CatalogReadsTest, WhoLocksTheCatalogueSeesAllEarlierChanges) {
  std::atomic<bool> stored = false;
  std::jthread other;
  CatalogVersion locked = 0;
  EXPECT_TRUE(store().atomically([&]() -> Result<void> {
    POSTRIDER_TRY(locked, a_.peers().lock_catalog());
    other = std::jthread{[&] {
      EXPECT_TRUE(b_.store.atomically([&]() -> Result<void> {
        POSTRIDER_TRY(const CatalogVersion after, b_.peers().lock_catalog());
        EXPECT_TRUE(stored);
        EXPECT_EQ(after, locked + 1);
        POSTRIDER_TRY(const CatalogChanges changes, b_.peers().changes_since(locked));
        EXPECT_THAT(changes.webhooks, ElementsAre(webhook_));
        return {};
      }));
    }};
    await_waiter();
    POSTRIDER_CHECK(store().catalog->put_webhook(sample_webhook(webhook_)));
    stored = true;
    return {};
  }));
}

TEST_F(CatalogReadsTest, APublishThatWasPlannedWithAnOlderCatalogueIsNotStored) {
  hold(b_, webhook_);
  const Delivery before = publish(b_, {webhook_}).front();
  const CatalogVersion seen = version();
  ASSERT_TRUE(store().catalog->put_webhook(sample_webhook(another_)).has_value());
  const Publish keyed = script_.publish({webhook_}, {.key = "k"});
  const Batch batch{.catalog_seen = seen,
                    .publishes = {keyed, script_.publish({webhook_, another_})},
                    .settlements = {script_.success(before)}};
  const BatchReceipt receipt = commit(b_, batch);
  EXPECT_THAT(receipt.publishes,
              ElementsAre(PublishReceipt{Outdated{}}, PublishReceipt{Outdated{}}));
  EXPECT_FALSE(receipt.handed_over);
  EXPECT_EQ(record(before.id).delivery.state, DeliveryState::succeeded);
  EXPECT_TRUE(b_.ledger().load_events({keyed.event.id})->empty());
  // Its key is free.
  const BatchReceipt again = commit(b_, {.catalog_seen = seen + 1, .publishes = {keyed}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(again.publishes.at(0)));
  // Without publishes the version does not matter.
  commit(b_, {.catalog_seen = seen, .revivals = {{.delivery_id = before.id, .now = script_.now}}});
}

TEST_F(CatalogReadsTest, APublishNeverMissesAWebhookThatWasAddedBefore) {
  constexpr std::size_t webhooks = 60;
  std::atomic<std::size_t> added = 0;
  std::jthread adding{[&] {
    for (std::uint8_t number = 1; number <= webhooks; ++number) {
      EXPECT_TRUE(
          store().catalog->put_webhook(sample_webhook(StoreScript::webhook(number))).has_value());
      added = number;
    }
  }};
  CatalogVersion seen = -1;
  std::vector<WebhookId> known;
  std::size_t accepted = 0;
  std::size_t outdated = 0;
  while (known.size() < webhooks) {
    const std::size_t added_before = added;
    const BatchReceipt receipt =
        commit(b_, {.catalog_seen = seen, .publishes = {script_.publish(known)}});
    if (std::holds_alternative<Accepted>(receipt.publishes.at(0))) {
      EXPECT_GE(known.size(), added_before);
      ++accepted;
      continue;
    }
    ++outdated;
    const CatalogChanges changes =
        b_.peers().changes_since(std::max<CatalogVersion>(seen, 0)).value();
    for (const WebhookId& id : changes.webhooks) {
      if (std::ranges::find(known, id) == known.end()) {
        known.push_back(id);
      }
    }
    seen = changes.version;
  }
  adding.join();
  EXPECT_GT(outdated, 0u);
  EXPECT_EQ(added, webhooks);
}

}  // namespace
}  // namespace postrider::test
