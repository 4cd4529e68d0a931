// API keys, sessions, tenants and sign-in links.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

ApiKey sample_key(std::uint8_t number) {
  return {.id = KeyId{StoreScript::webhook(number).bytes},
          .name = "key " + std::to_string(number),
          .sha256 = std::string("\0\x01\xff", 3) + std::string(29, static_cast<char>(number)),
          .created_at = store_epoch};
}

ApiKey tenant_key(std::uint8_t number, TenantId tenant_id) {
  ApiKey key = sample_key(number);
  key.scope = KeyScope::tenant;
  key.tenant_id = std::move(tenant_id);
  return key;
}

RegisteredTenant sample_tenant(std::uint8_t number, TenantId id) {
  RegisteredTenant tenant;
  tenant.id = std::move(id);
  tenant.serial = TenantSerial{StoreScript::webhook(number).bytes};
  tenant.created_at = store_epoch;
  return tenant;
}

SignInLink sample_link(char byte, TenantId tenant_id, Millis life) {
  return {.sha256 = std::string(32, byte),
          .tenant_id = std::move(tenant_id),
          .session = Millis{3'600'000},
          .expires_at = store_epoch + life,
          .created_by = sample_key(200).id};
}

ApiKey sample_session(std::uint8_t number, std::uint8_t parent, TenantId tenant_id) {
  ApiKey session = sample_key(number);
  session.scope = tenant_id.empty() ? KeyScope::read : KeyScope::tenant;
  session.tenant_id = std::move(tenant_id);
  session.expires_at = store_epoch + Millis{1};
  session.session = SessionOrigin{.parent = sample_key(parent).id};
  return session;
}

}  // namespace

void RegistryContract::apply(const RegistryChange& change) {
  const Result<void> applied = registry().apply(change);
  ASSERT_TRUE(applied.has_value()) << applied.error().message;
}

RegistryContents RegistryContract::contents() {
  store_->reopen();
  Result<RegistryContents> loaded = registry().load();
  EXPECT_TRUE(loaded.has_value());
  return loaded ? *std::move(loaded) : RegistryContents{};
}

TEST_P(RegistryContract, EmptyStoreHasNothing) { EXPECT_EQ(contents(), RegistryContents{}); }

TEST_P(RegistryContract, KeysTenantsAndLinksRoundTrip) {
  ApiKey full = tenant_key(2, "acme");
  full.expires_at = store_epoch + Millis{1};
  full.last_used_at = store_epoch + Millis{2};
  full.role = KeyRole::viewer;
  ApiKey reader = sample_key(1);
  reader.scope = KeyScope::read;
  reader.name = "";
  ApiKey publisher = sample_key(3);
  publisher.scope = KeyScope::publish;
  RegisteredTenant limited = sample_tenant(1, "zeta");
  limited.name = "Zeta";
  limited.metadata = R"({ "a" : 1 })";
  limited.pool = "blue";
  limited.limits = {.webhooks_max = 0,
                    .events_per_minute = 4'000'000'000u,
                    .timeout_ms_max = 10,
                    .max_in_flight_max = 1'000};
  limited.suspended_at = store_epoch + Millis{3};
  limited.suspended_reason = "unpaid";
  limited.contacts = {"ops@zeta.example", "ceo@zeta.example"};
  const RegisteredTenant plain = sample_tenant(2, "acme");
  SignInLink link = sample_link('l', "acme", Millis{5});
  link.role = KeyRole::viewer;
  link.branding = {.title = "Acme", .logo_url = "/logo.svg", .primary_color = "#1a73e8"};
  SignInLink operators = sample_link('o', "", Millis{6});
  operators.scope = KeyScope::admin;
  ApiKey visitor = sample_session(4, 200, "acme");
  visitor.role = KeyRole::viewer;
  visitor.session->portal = true;
  visitor.session->branding = link.branding;
  const ApiKey operator_session = sample_session(5, 1, "");

  for (const RegistryChange& change : std::initializer_list<RegistryChange>{
           AddKey{full}, AddKey{reader}, AddKey{publisher}, AddTenant{plain}, AddTenant{limited},
           AddLink{link}, AddLink{operators}, AddSession{operator_session}, AddSession{visitor}}) {
    apply(change);
  }
  EXPECT_EQ(contents(), (RegistryContents{.keys = {reader, full, publisher},
                                          .tenants = {limited, plain},
                                          .links = {link, operators},
                                          .sessions = {visitor, operator_session}}));
}

TEST_P(RegistryContract, SessionsAndLinksEndWithTheirKey) {
  const ApiKey removed = sample_session(10, 1, "");
  const ApiKey replaced = sample_session(11, 2, "acme");
  const ApiKey kept = sample_session(12, 3, "");
  SignInLink link = sample_link('r', "acme", Millis{5});
  link.created_by = sample_key(1).id;
  for (const std::uint8_t number : std::initializer_list<std::uint8_t>{1, 2, 3}) {
    apply(AddKey{sample_key(number)});
  }
  for (const ApiKey& session : {removed, replaced, kept}) {
    apply(AddSession{session});
  }
  apply(AddLink{link});
  apply(AddLink{sample_link('k', "acme", Millis{5})});
  apply(RemoveKey{sample_key(1).id});
  ApiKey renewed = sample_key(2);
  renewed.sha256 = std::string(32, 'n');
  apply(AddKey{renewed});
  EXPECT_EQ(contents(), (RegistryContents{.keys = {renewed, sample_key(3)},
                                          .tenants = {},
                                          .links = {sample_link('k', "acme", Millis{5})},
                                          .sessions = {kept}}));
}

TEST_P(RegistryContract, EndsSessions) {
  for (const std::uint8_t number : std::initializer_list<std::uint8_t>{1, 2, 3}) {
    apply(AddSession{sample_session(number, 9, "")});
  }
  apply(EndSessions{{sample_key(1).id, sample_key(3).id, sample_key(7).id}});
  EXPECT_EQ(contents().sessions, (std::vector<ApiKey>{sample_session(2, 9, "")}));
}

TEST_P(RegistryContract, RemovesKeysAndStoresTheirLastUse) {
  apply(AddKey{sample_key(1)});
  apply(AddKey{sample_key(2)});
  apply(RemoveKey{sample_key(1).id});
  apply(RemoveKey{sample_key(9).id});  // Not there; nothing happens.
  apply(NoteKeyUses{
      {{sample_key(2).id, store_epoch + Millis{7}}, {sample_key(1).id, store_epoch + Millis{8}}}});
  ApiKey used = sample_key(2);
  used.last_used_at = store_epoch + Millis{7};
  EXPECT_EQ(contents().keys, (std::vector<ApiKey>{used}));
}

TEST_P(RegistryContract, SetsRemovesOrKeepsALimit) {
  apply(AddTenant{sample_tenant(1, "acme")});
  apply(AddTenant{sample_tenant(2, "other")});
  using Limit = std::optional<std::uint32_t>;
  apply(SetLimits{"acme", {.webhooks_max = Limit{5}}});
  apply(SetLimits{"acme", {.events_per_minute = Limit{60}}});
  apply(SetLimits{"acme", {.timeout_ms_max = Limit{5'000}}});
  apply(SetLimits{"acme", {.max_in_flight_max = Limit{3}}});
  apply(SetLimits{"acme", {}});
  EXPECT_EQ(contents().tenants[0].limits, (TenantLimits{.webhooks_max = 5,
                                                        .events_per_minute = 60,
                                                        .timeout_ms_max = 5'000,
                                                        .max_in_flight_max = 3}));
  apply(SetLimits{"acme",
                  {.webhooks_max = Limit{},
                   .events_per_minute = Limit{0},
                   .timeout_ms_max = Limit{},
                   .max_in_flight_max = Limit{1}}});
  const RegistryContents now = contents();
  ASSERT_EQ(now.tenants.size(), 2u);
  EXPECT_EQ(now.tenants[0].limits, (TenantLimits{.webhooks_max = std::nullopt,
                                                 .events_per_minute = 0,
                                                 .timeout_ms_max = std::nullopt,
                                                 .max_in_flight_max = 1}));
  EXPECT_EQ(now.tenants[1].limits, TenantLimits{});
}

TEST_P(RegistryContract, SetsTheContactsOfATenant) {
  apply(AddTenant{sample_tenant(1, "acme")});
  apply(AddTenant{sample_tenant(2, "other")});
  apply(SetContacts{"acme", {"ops@acme.example", "dev@acme.example"}});
  EXPECT_EQ(contents().tenants[0].contacts,
            (std::vector<std::string>{"ops@acme.example", "dev@acme.example"}));
  EXPECT_TRUE(contents().tenants[1].contacts.empty());
  apply(SetContacts{"acme", {}});
  EXPECT_TRUE(contents().tenants[0].contacts.empty());
}

TEST_P(RegistryContract, SuspendsATenantOnceAndResumesIt) {
  apply(AddTenant{sample_tenant(1, "acme")});
  apply(AddTenant{sample_tenant(2, "other")});
  apply(SuspendTenant{.tenant_id = "acme", .at = store_epoch + Millis{7}, .reason = "unpaid"});
  apply(SuspendTenant{.tenant_id = "acme", .at = store_epoch + Millis{8}, .reason = "again"});
  apply(SetLimits{"acme", {}});
  RegisteredTenant suspended = sample_tenant(1, "acme");
  suspended.suspended_at = store_epoch + Millis{7};
  suspended.suspended_reason = "unpaid";
  EXPECT_EQ(contents().tenants,
            (std::vector<RegisteredTenant>{suspended, sample_tenant(2, "other")}));
  apply(ResumeTenant{"acme"});
  apply(ResumeTenant{"other"});
  EXPECT_EQ(contents().tenants,
            (std::vector<RegisteredTenant>{sample_tenant(1, "acme"), sample_tenant(2, "other")}));
}

TEST_P(RegistryContract, RemovingATenantRemovesItsKeysSessionsAndLinks) {
  apply(AddTenant{sample_tenant(1, "acme")});
  apply(AddTenant{sample_tenant(2, "other")});
  apply(AddKey{sample_key(1)});
  apply(AddKey{tenant_key(2, "acme")});
  apply(AddKey{tenant_key(3, "other")});
  apply(AddLink{sample_link('a', "acme", Millis{5})});
  apply(AddLink{sample_link('o', "other", Millis{5})});
  apply(AddSession{sample_session(4, 200, "acme")});
  apply(AddSession{sample_session(5, 200, "other")});
  apply(RemoveTenant{"acme"});
  EXPECT_EQ(contents(), (RegistryContents{.keys = {sample_key(1), tenant_key(3, "other")},
                                          .tenants = {sample_tenant(2, "other")},
                                          .links = {sample_link('o', "other", Millis{5})},
                                          .sessions = {sample_session(5, 200, "other")}}));
}

TEST_P(RegistryContract, LinkIsRedeemedOnce) {
  apply(AddLink{sample_link('a', "acme", Millis{5})});
  const ApiKey session = sample_session(2, 200, "acme");
  apply(RedeemLink{std::string(32, 'a'), session});
  store_->reopen();
  const Result<void> again =
      registry().apply(RedeemLink{std::string(32, 'a'), sample_session(3, 200, "acme")});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Errc::not_found);
  EXPECT_EQ(contents(),
            (RegistryContents{.keys = {}, .tenants = {}, .links = {}, .sessions = {session}}));
}

TEST_P(RegistryContract, SweepRemovesExpiredLinksAndSessionsButNoOtherKeys) {
  ApiKey session = sample_session(1, 200, "acme");
  session.expires_at = store_epoch;
  const ApiKey lasting = sample_session(2, 200, "acme");
  ApiKey ordinary = sample_key(3);
  ordinary.expires_at = store_epoch - Millis{1};
  apply(AddKey{ordinary});
  apply(AddSession{session});
  apply(AddSession{lasting});
  apply(AddLink{sample_link('a', "acme", Millis{0})});
  apply(AddLink{sample_link('b', "acme", Millis{1})});
  apply(SweepExpired{store_epoch});
  EXPECT_EQ(contents(), (RegistryContents{.keys = {ordinary},
                                          .tenants = {},
                                          .links = {sample_link('b', "acme", Millis{1})},
                                          .sessions = {lasting}}));
}

TEST_P(RegistryContract, TransactionStopsAtTheFirstFailedChange) {
  const auto body = [&]() -> Result<void> {
    POSTRIDER_CHECK(
        registry().apply(RedeemLink{std::string(32, 'n'), sample_session(2, 200, "acme")}));
    return registry().apply(AddKey{sample_key(1)});
  };
  EXPECT_EQ(store_->store().atomically(body).error().code, Errc::not_found);
  EXPECT_EQ(contents(), RegistryContents{});
  apply(AddLink{sample_link('n', "acme", Millis{5})});
  EXPECT_TRUE(store_->store().atomically(body).has_value());
  EXPECT_EQ(contents(), (RegistryContents{.keys = {sample_key(1)},
                                          .tenants = {},
                                          .links = {},
                                          .sessions = {sample_session(2, 200, "acme")}}));
}

}  // namespace postrider::test
