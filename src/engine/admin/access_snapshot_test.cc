#include "engine/admin/access_snapshot.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

ApiKey make_key(std::uint8_t number, KeyScope scope = KeyScope::admin) {
  ApiKey key{.id = {},
             .name = {},
             .sha256 = std::string(32, static_cast<char>(number)),
             .scope = scope,
             .created_at = now};
  key.id.bytes[0] = number;
  return key;
}

RegisteredTenant make_tenant(std::uint8_t number, TenantId id) {
  RegisteredTenant tenant;
  tenant.id = std::move(id);
  tenant.serial.bytes[0] = number;
  return tenant;
}

ApiKey make_session(std::uint8_t number, std::uint8_t parent, TenantId tenant_id = {}) {
  ApiKey session = make_key(number);
  session.tenant_id = std::move(tenant_id);
  session.expires_at = now + Millis{1};
  session.session = SessionOrigin{.parent = make_key(parent).id};
  return session;
}

AccessSnapshot changed(const AccessSnapshot& access, const RegistryChange& change) {
  Result<AccessSnapshot> result = access.with(change, now);
  EXPECT_TRUE(result.has_value());
  return result ? *std::move(result) : AccessSnapshot{};
}

Errc failure(const AccessSnapshot& access, const RegistryChange& change) {
  const Result<AccessSnapshot> result = access.with(change, now);
  EXPECT_FALSE(result.has_value());
  return result ? Errc::corrupt : result.error().code;
}

TEST(AccessSnapshot, FindsKeysByHashAndById) {
  const AccessSnapshot empty;
  const AccessSnapshot access = changed(empty, AddKey{make_key(1)});
  ASSERT_NE(access.find_key(std::string(32, 1)), nullptr);
  EXPECT_EQ(access.find_key(std::string(32, 1)), access.find_key(make_key(1).id));
  EXPECT_EQ(access.find_key(std::string(32, 2)), nullptr);
  EXPECT_EQ(empty.find_key(std::string(32, 1)), nullptr);
}

TEST(AccessSnapshot, AReplacedKeyIsNotFoundByItsOldHash) {
  ApiKey renewed = make_key(1);
  renewed.sha256 = std::string(32, 'r');
  const AccessSnapshot access = changed(changed({}, AddKey{make_key(1)}), AddKey{renewed});
  EXPECT_EQ(access.find_key(std::string(32, 1)), nullptr);
  EXPECT_NE(access.find_key(std::string(32, 'r')), nullptr);
}

TEST(AccessSnapshot, RefusesToRemoveTheLastPermanentAdminKey) {
  ApiKey expiring = make_key(2);
  expiring.expires_at = now + Millis{1'000};
  AccessSnapshot access{
      {.keys = {make_key(1), expiring, make_key(3, KeyScope::read)}, .tenants = {}, .links = {}}};
  EXPECT_EQ(failure(access, RemoveKey{make_key(1).id}), Errc::conflict);
  EXPECT_EQ(failure(access, RemoveKey{make_key(9).id}), Errc::not_found);
  access = changed(access, RemoveKey{expiring.id});
  access = changed(access, RemoveKey{make_key(3).id});
  EXPECT_EQ(failure(access, RemoveKey{make_key(1).id}), Errc::conflict);
  access = changed(changed(access, AddKey{make_key(4)}), RemoveKey{make_key(1).id});
  EXPECT_EQ(access.keys().size(), 1u);
}

TEST(AccessSnapshot, KnowsWhetherAnyTenantIsLimited) {
  AccessSnapshot access = changed({}, AddTenant{make_tenant(1, "a")});
  access = changed(access, AddTenant{make_tenant(2, "b")});
  EXPECT_FALSE(access.limits_events());
  using Limit = std::optional<std::uint32_t>;
  access = changed(access, SetLimits{"a", {.webhooks_max = Limit{1}}});
  access = changed(access, SetLimits{"a", {.events_per_minute = Limit{5}}});
  access = changed(access, SetLimits{"a", {.events_per_minute = Limit{6}}});
  access = changed(access, SetLimits{"b", {.events_per_minute = Limit{7}}});
  access = changed(access, SetLimits{"b", {.events_per_minute = Limit{}}});
  EXPECT_TRUE(access.limits_events());
  EXPECT_EQ(access.limits_of("a"), (TenantLimits{.webhooks_max = 1, .events_per_minute = 6}));
  EXPECT_EQ(access.limits_of("nobody"), TenantLimits{});
  EXPECT_TRUE(access.only("a").limits_events());
  EXPECT_FALSE(access.only("b").limits_events());
  EXPECT_EQ(access.only("b").tenants().size(), 1u);
  access = changed(access, RemoveTenant{"a"});
  EXPECT_FALSE(access.limits_events());
  EXPECT_EQ(failure(access, SetLimits{"a", {}}), Errc::not_found);
  EXPECT_EQ(failure(access, AddTenant{make_tenant(3, "b")}), Errc::conflict);
}

TEST(AccessSnapshot, ContactsOfATenantAreReplaced) {
  AccessSnapshot access = changed({}, AddTenant{make_tenant(1, "a")});
  access = changed(access, SetContacts{"a", {"ops@a.example"}});
  EXPECT_EQ(access.find_tenant("a")->contacts, (std::vector<std::string>{"ops@a.example"}));
  EXPECT_EQ(failure(access, SetContacts{"nobody", {}}), Errc::not_found);
}

TEST(AccessSnapshot, ALinkCanBeRedeemedOnceUntilItExpires) {
  const auto with_link = [](Millis life) {
    return changed(changed({}, AddKey{make_key(9)}), AddLink{{.sha256 = "l",
                                                              .tenant_id = "a",
                                                              .session = Millis{1},
                                                              .expires_at = now + life,
                                                              .created_by = make_key(9).id}});
  };
  const RedeemLink redeem{"l", make_session(1, 9, "a")};
  EXPECT_EQ(failure(with_link(Millis{0}), redeem), Errc::not_found);
  const AccessSnapshot redeemed = changed(with_link(Millis{1}), redeem);
  EXPECT_EQ(redeemed.find_link("l"), nullptr);
  EXPECT_NE(redeemed.find_session(make_key(1).id), nullptr);
  EXPECT_EQ(failure(redeemed, redeem), Errc::not_found);
  EXPECT_TRUE(with_link(Millis{0}).has_expired(now));
  EXPECT_FALSE(with_link(Millis{1}).has_expired(now));
}

TEST(AccessSnapshot, ASessionIsNotAKey) {
  const AccessSnapshot access =
      changed(changed({}, AddKey{make_key(1)}), AddSession{make_session(2, 1)});
  EXPECT_EQ(access.find_key(make_key(2).id), nullptr);
  EXPECT_EQ(access.find_key(std::string(32, 2)), nullptr);
  EXPECT_EQ(access.find_session(std::string(32, 1)), nullptr);
  ASSERT_NE(access.find_session(std::string(32, 2)), nullptr);
  EXPECT_EQ(access.find_session(make_key(2).id), access.find_caller(make_key(2).id));
  EXPECT_EQ(access.find_key(make_key(1).id), access.find_caller(make_key(1).id));
  EXPECT_EQ(access.keys().size(), 1u);
  const AccessSnapshot ended = changed(access, EndSessions{{make_key(2).id}});
  EXPECT_EQ(ended.find_caller(make_key(2).id), nullptr);
  EXPECT_EQ(ended.keys().size(), 1u);
}

TEST(AccessSnapshot, SessionsAndLinksEndWithTheirKey) {
  ApiKey expired = make_key(3);
  expired.expires_at = now;
  AccessSnapshot access{{.keys = {make_key(1), make_key(2), expired}, .tenants = {}, .links = {}}};
  const auto link = [](std::string sha256, std::uint8_t key) {
    return AddLink{{.sha256 = std::move(sha256),
                    .tenant_id = {},
                    .session = Millis{1},
                    .expires_at = now + Millis{1},
                    .created_by = make_key(key).id}};
  };
  for (const std::uint8_t parent : std::initializer_list<std::uint8_t>{3, 9}) {
    EXPECT_EQ(failure(access, AddSession{make_session(7, parent)}), Errc::not_found);
    EXPECT_EQ(failure(access, link("l", parent)), Errc::not_found);
  }
  access = changed(changed(access, AddSession{make_session(7, 1)}), link("a", 1));
  access = changed(changed(access, AddSession{make_session(8, 2)}), link("b", 2));
  const AccessSnapshot removed = changed(access, RemoveKey{make_key(1).id});
  EXPECT_EQ(removed.find_session(make_key(7).id), nullptr);
  EXPECT_EQ(removed.find_link("a"), nullptr);
  EXPECT_NE(removed.find_session(make_key(8).id), nullptr);
  EXPECT_NE(removed.find_link("b"), nullptr);
  const AccessSnapshot replaced = changed(access, AddKey{make_key(1)});
  EXPECT_EQ(replaced.find_session(make_key(7).id), nullptr);
  EXPECT_EQ(replaced.find_link("a"), nullptr);
}

TEST(AccessSnapshot, TheOldestSessionsOfAKeyAndTenantAreSurplus) {
  AccessSnapshot access{{.keys = {make_key(200), make_key(201)}, .tenants = {}, .links = {}}};
  for (std::uint8_t number = 1; number <= sessions_max; ++number) {
    access = changed(access, AddSession{make_session(number, 200)});
  }
  access = changed(access, AddSession{make_session(150, 201)});
  access = changed(access, AddSession{make_session(151, 200, "acme")});
  EXPECT_TRUE(access.surplus_sessions(make_session(100, 200)).empty());
  access = changed(access, AddSession{make_session(101, 200)});
  access = changed(access, AddSession{make_session(102, 200)});
  EXPECT_EQ(access.surplus_sessions(make_session(102, 200)),
            (std::vector<KeyId>{make_key(1).id, make_key(2).id}));
  EXPECT_TRUE(access.surplus_sessions(make_session(151, 200, "acme")).empty());
}

TEST(AccessSnapshot, LimitsTheKeysOfATenantIfAsked) {
  ApiKey first = make_key(1, KeyScope::tenant);
  first.tenant_id = "acme";
  ApiKey second = make_key(2, KeyScope::tenant);
  second.tenant_id = "acme";
  const AccessSnapshot access = changed(changed({}, AddKey{make_key(9)}), AddKey{first});
  EXPECT_EQ(access.keys_of("acme").size(), 1u);
  EXPECT_EQ(access.keys_of("").size(), 0u);
  EXPECT_EQ(failure(access, AddKey{second, 1}), Errc::conflict);
  EXPECT_EQ(changed(access, AddKey{second, 2}).keys_of("acme").size(), 2u);
  EXPECT_EQ(changed(access, AddKey{second}).keys_of("acme").size(), 2u);
}

TEST(AccessSnapshot, SuspendsAndResumesATenant) {
  const AccessSnapshot access{
      {.keys = {}, .tenants = {make_tenant(1, "acme"), make_tenant(2, "other")}, .links = {}}};
  EXPECT_FALSE(access.is_suspended("acme"));
  const AccessSnapshot suspended =
      changed(access, SuspendTenant{.tenant_id = "acme", .at = now, .reason = "unpaid"});
  EXPECT_TRUE(suspended.is_suspended("acme"));
  EXPECT_FALSE(suspended.is_suspended("other"));
  EXPECT_FALSE(suspended.is_suspended("unknown"));
  EXPECT_TRUE(suspended.only("acme").is_suspended("acme"));

  const AccessSnapshot again =
      changed(suspended, SuspendTenant{.tenant_id = "acme", .at = now + Millis{1}, .reason = {}});
  EXPECT_EQ(again.find_tenant("acme")->suspended_at, now);
  EXPECT_EQ(again.find_tenant("acme")->suspended_reason, "unpaid");
  EXPECT_FALSE(changed(again, RemoveTenant{"acme"}).is_suspended("acme"));

  const AccessSnapshot resumed = changed(again, ResumeTenant{"acme"});
  EXPECT_FALSE(resumed.is_suspended("acme"));
  EXPECT_EQ(*resumed.find_tenant("acme"), make_tenant(1, "acme"));
  EXPECT_FALSE(changed(resumed, ResumeTenant{"acme"}).is_suspended("acme"));
  EXPECT_EQ(failure(access, SuspendTenant{.tenant_id = "nobody", .at = now, .reason = {}}),
            Errc::not_found);
  EXPECT_EQ(failure(access, ResumeTenant{"nobody"}), Errc::not_found);
}

}  // namespace
}  // namespace postrider
