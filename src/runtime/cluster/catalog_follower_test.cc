#include "runtime/cluster/catalog_follower.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/shared_memory_store.h"

namespace postrider {
namespace {

constexpr WallTime now = wall_from_unix_ms(1'750'000'000'000);

Webhook make_webhook(std::uint8_t number, const std::string& name = "first") {
  Webhook webhook;
  webhook.id.bytes[15] = number;
  webhook.tenant_id = "acme";
  webhook.name = name;
  return webhook;
}

RegisteredTenant make_tenant(std::optional<WallTime> suspended_at = std::nullopt) {
  return {.id = "acme",
          .serial = TenantSerial{{1}},
          .metadata = "{}",
          .created_at = now,
          .suspended_at = suspended_at};
}

/// Event types that cannot be read while `fails` is set.
class FaultyEventTypes final : public EventTypes {
 public:
  FaultyEventTypes(std::unique_ptr<EventTypes> real, const bool& fails)
      : real_(std::move(real)), fails_(fails) {}
  Result<std::vector<EventType>> load() override {
    if (fails_) {
      return fail(Errc::unavailable, "The event types cannot be read.");
    }
    return real_->load();
  }
  Result<void> put(const EventType& type) override { return real_->put(type); }
  Result<void> remove(const std::string& name) override { return real_->remove(name); }

 private:
  std::unique_ptr<EventTypes> real_;
  const bool& fails_;
};

/// `store_` belongs to this server, `other_` to another one.
class CatalogFollowerTest : public testing::Test, private CatalogObserver {
 protected:
  CatalogFollowerTest() {
    store_.event_types =
        std::make_unique<FaultyEventTypes>(std::move(store_.event_types), event_types_fail_);
    follower_.guard(store_);
  }

  [[nodiscard]] static MakeSchemaCheck no_schemas() {
    return [](std::string_view) {
      return Result<std::unique_ptr<const SchemaCheck>>{fail(Errc::invalid, "None here.")};
    };
  }
  void catch_up() {
    const Result<void> done = follower_.catch_up(store_, replies_);
    EXPECT_TRUE(done) << done.error().message;
  }
  void put_by_other(const Webhook& webhook) { ASSERT_TRUE(other_.catalog->put_webhook(webhook)); }
  void register_by_other(const RegistryChange& change) {
    ASSERT_TRUE(other_.registry->apply(change));
  }
  [[nodiscard]] std::string name_of(std::uint8_t number) const {
    const WebhookRef webhook = changes_.directory()->find(make_webhook(number).id);
    return webhook ? webhook->name.value_or("") : "none";
  }
  [[nodiscard]] bool knows_type(const std::string& name) const {
    return event_types_.catalog()->find(name) != nullptr;
  }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> inputs() const {
    std::vector<Kind> found;
    for (const Input& input : replies_.front().inputs) {
      if (const Kind* kind = std::get_if<Kind>(&input)) {
        found.push_back(*kind);
      }
    }
    return found;
  }
  /// A change of this server, by the same path as those of users.
  [[nodiscard]] Result<void> rename(std::uint8_t number, const std::string& name) {
    return follower_.change(store_, replies_, [&] { return rename_once(number, name); });
  }
  [[nodiscard]] Result<void> rename_once(std::uint8_t number, const std::string& name) {
    ++tries_;
    if (meanwhile_) {
      meanwhile_();
    }
    const AuditEntry entry{.at = now};
    return changes_
        .edit_webhook(
            {store_, replies_, entry}, make_webhook(number).id,
            [&](const Webhook& webhook) {
              Webhook edited = webhook;
              edited.name = webhook.name.value_or("") + name;
              return Result<Webhook>{edited};
            },
            std::nullopt)
        .map([](const WebhookRef&) {});
  }

  test::SharedMemoryStore shared_;
  bool follower_fails_ = false;
  bool event_types_fail_ = false;
  Store store_ = shared_.open(NodeId{{1}}, [this](const std::string&) { return follower_fails_; });
  Store other_ = shared_.open(NodeId{{2}});
  RepliesByShard replies_{1};
  AdminChanges changes_{Directory{}, AccessSnapshot{}, ChannelDirectory{}};
  EventTypeChanges event_types_{EventTypeCatalog{}};
  CatalogFollower follower_{store_.peers->catalog_version().value(),
                            {.changes = &changes_,
                             .event_types = &event_types_,
                             .make_schema_check = no_schemas(),
                             .observer = this}};
  int tries_ = 0;
  std::function<void()> meanwhile_;
  int operations_changed_ = 0;
  int access_changed_ = 0;
  std::function<void()> on_access_changed_ = [] {};

 private:
  void operations_changed() override { ++operations_changed_; }
  void access_changed(Store&, RepliesByShard&) override {
    ++access_changed_;
    on_access_changed_();
  }
};

TEST_F(CatalogFollowerTest, WebhooksOfOtherServersAreAddedChangedAndRemoved) {
  put_by_other(make_webhook(1));
  catch_up();
  EXPECT_EQ(name_of(1), "first");
  ASSERT_EQ(inputs<WebhookChanged>().size(), 1u);
  EXPECT_EQ(inputs<WebhookChanged>()[0].backlog_due, WallTime{})
      << "its first deliveries may be stored already";

  put_by_other(make_webhook(1, "second"));
  catch_up();
  EXPECT_EQ(name_of(1), "second");
  ASSERT_EQ(inputs<WebhookChanged>().size(), 2u);
  EXPECT_EQ(inputs<WebhookChanged>()[1].backlog_due, std::nullopt);

  ASSERT_TRUE(other_.catalog->remove_webhook(make_webhook(1).id, now));
  catch_up();
  EXPECT_EQ(name_of(1), "none");
  EXPECT_EQ(inputs<WebhookRemoved>().size(), 1u);
}

TEST_F(CatalogFollowerTest, NothingIsToldTwice) {
  put_by_other(make_webhook(1));
  register_by_other(AddTenant{make_tenant()});
  catch_up();
  catch_up();
  EXPECT_EQ(inputs<WebhookChanged>().size(), 1u);
  EXPECT_EQ(access_changed_, 1);
}

TEST_F(CatalogFollowerTest, SuspensionsAndLimitsReachTheLanes) {
  register_by_other(AddTenant{make_tenant(now)});
  catch_up();
  EXPECT_TRUE(changes_.access()->is_suspended("acme"));
  ASSERT_EQ(inputs<TenantSuspension>().size(), 1u);
  EXPECT_TRUE(inputs<TenantSuspension>()[0].suspended);
  register_by_other(ResumeTenant{"acme"});
  catch_up();
  ASSERT_EQ(inputs<TenantSuspension>().size(), 2u);
  EXPECT_FALSE(inputs<TenantSuspension>()[1].suspended);
  EXPECT_EQ(access_changed_, 2);
}

TEST_F(CatalogFollowerTest, EventTypesChannelsAndOperationsAreFollowed) {
  ASSERT_TRUE(other_.event_types->put({.name = "order.paid", .created_at = now}));
  ASSERT_TRUE(other_.notifications->put_channel({.id = ChannelId{{1}}, .name = "mail"}));
  Operation operation;
  operation.id = OperationId{{1}};
  ASSERT_TRUE(other_.operations->put(operation));
  catch_up();
  EXPECT_TRUE(knows_type("order.paid"));
  EXPECT_NE(changes_.channels()->find(ChannelId{{1}}), nullptr);
  EXPECT_EQ(operations_changed_, 1);
}

TEST_F(CatalogFollowerTest, EverythingIsReadAgainWhenTheChangesAreNoLongerKnown) {
  put_by_other(make_webhook(1));
  put_by_other(make_webhook(2));
  catch_up();
  ASSERT_TRUE(other_.catalog->remove_webhook(make_webhook(1).id, now));
  put_by_other(make_webhook(3));
  register_by_other(AddTenant{make_tenant()});
  ASSERT_TRUE(other_.event_types->put({.name = "order.paid", .created_at = now}));
  ASSERT_TRUE(other_.notifications->put_channel({.id = ChannelId{{1}}, .name = "mail"}));
  shared_.forget_changes();
  catch_up();
  EXPECT_EQ(name_of(1), "none");
  EXPECT_EQ(name_of(2), "first");
  EXPECT_EQ(name_of(3), "first");
  EXPECT_EQ(changes_.access()->tenants().size(), 1u);
  EXPECT_TRUE(knows_type("order.paid"));
  EXPECT_NE(changes_.channels()->find(ChannelId{{1}}), nullptr);
  EXPECT_EQ(operations_changed_, 1);
  EXPECT_EQ(access_changed_, 1);
  EXPECT_EQ(inputs<WebhookRemoved>().size(), 1u);
}

/// A tenant may have moved to this server's pool together with its webhooks.
TEST_F(CatalogFollowerTest, TheObserverSeesTheWebhooksThatCameWithTheTenant) {
  std::string seen;
  on_access_changed_ = [&] { seen = name_of(1); };
  register_by_other(AddTenant{make_tenant()});
  put_by_other(make_webhook(1));
  catch_up();
  EXPECT_EQ(seen, "first");

  register_by_other(RemoveTenant{"acme"});
  put_by_other(make_webhook(1, "second"));
  shared_.forget_changes();
  catch_up();
  EXPECT_EQ(seen, "second");
}

TEST_F(CatalogFollowerTest, WhatFailsHalfWayIsAppliedAgain) {
  const CatalogVersion before = follower_.seen();
  register_by_other(AddTenant{make_tenant()});
  ASSERT_TRUE(other_.event_types->put({.name = "order.paid", .created_at = now}));
  put_by_other(make_webhook(1));
  event_types_fail_ = true;
  EXPECT_EQ(follower_.catch_up(store_, replies_).error().code, Errc::unavailable);
  EXPECT_EQ(follower_.seen(), before);
  EXPECT_EQ(name_of(1), "none");
  EXPECT_EQ(access_changed_, 0);
  event_types_fail_ = false;
  catch_up();
  EXPECT_GT(follower_.seen(), before);
  EXPECT_EQ(name_of(1), "first");
  EXPECT_TRUE(knows_type("order.paid"));
  EXPECT_EQ(access_changed_, 1);
}

TEST_F(CatalogFollowerTest, AStoreThatIsAwayChangesNothing) {
  put_by_other(make_webhook(1));
  const CatalogVersion before = follower_.seen();
  follower_fails_ = true;
  EXPECT_EQ(follower_.catch_up(store_, replies_).error().code, Errc::unavailable);
  EXPECT_EQ(rename(1, "!").error().code, Errc::unavailable);
  EXPECT_EQ(follower_.seen(), before);
  EXPECT_EQ(tries_, 0);
}

TEST_F(CatalogFollowerTest, AChangeDecidesOnWhatOthersHaveChanged) {
  put_by_other(make_webhook(1));
  ASSERT_TRUE(rename(1, "!"));
  EXPECT_EQ(name_of(1), "first!");
  EXPECT_EQ(tries_, 1);
  EXPECT_EQ(other_.catalog->find_webhook(make_webhook(1).id).value()->name, "first!");
}

TEST_F(CatalogFollowerTest, AChangeThatIsOutrunIsDecidedAgain) {
  put_by_other(make_webhook(1));
  meanwhile_ = [&] {
    if (tries_ <= 3) {
      put_by_other(make_webhook(1, std::to_string(tries_)));
    }
  };
  ASSERT_TRUE(rename(1, "!"));
  EXPECT_EQ(tries_, 4);
  EXPECT_EQ(name_of(1), "3!");
  EXPECT_EQ(other_.catalog->find_webhook(make_webhook(1).id).value()->name, "3!");
}

TEST_F(CatalogFollowerTest, AChangeThatIsAlwaysOutrunEnds) {
  put_by_other(make_webhook(1));
  meanwhile_ = [&] { put_by_other(make_webhook(1, std::to_string(tries_))); };
  EXPECT_EQ(rename(1, "!").error().code, Errc::conflict);
  EXPECT_EQ(tries_, 20);
}

TEST_F(CatalogFollowerTest, AConflictOfTheChangeItselfIsNotRepeated) {
  const Result<void> done = follower_.change(store_, replies_, [&]() -> Result<void> {
    ++tries_;
    return store_.atomically([]() -> Result<void> { return fail(Errc::conflict, "No."); });
  });
  EXPECT_EQ(done.error().message, "No.");
  EXPECT_EQ(tries_, 1);
}

TEST_F(CatalogFollowerTest, ATransactionWithinATransactionChecksNothing) {
  put_by_other(make_webhook(1));
  const Result<void> done = follower_.change(store_, replies_, [&] {
    return store_.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(store_.catalog->put_webhook(make_webhook(2)));
      // The catalogue is newer than what was seen, by this transaction itself.
      return store_.atomically([&] { return store_.catalog->put_webhook(make_webhook(3)); });
    });
  });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_TRUE(other_.catalog->find_webhook(make_webhook(3).id).value().has_value());
}

TEST_F(CatalogFollowerTest, TransactionsThatAreNoChangeOfTheCatalogueAreNotChecked) {
  put_by_other(make_webhook(1));  // Not seen.
  EXPECT_TRUE(store_.atomically([]() -> Result<void> { return {}; }));
  ASSERT_TRUE(rename(1, "!"));
  put_by_other(make_webhook(2));  // Not seen, after a change.
  EXPECT_TRUE(store_.atomically([]() -> Result<void> { return {}; }));
}

}  // namespace
}  // namespace postrider
