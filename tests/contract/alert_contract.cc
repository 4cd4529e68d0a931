// Alerts, current and past.
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

Alert sample_alert(std::uint8_t number, AlertKind kind = AlertKind::circuit_opened) {
  return {.id = AlertId{StoreScript::webhook(number).bytes},
          .subject = {kind, StoreScript::webhook(number)},
          .tenant_id = "acme",
          .raised_at = store_epoch + Millis{number},
          .resolved_at = std::nullopt,
          .detail = "Something happened.",
          .measure = AlertMeasure{.count = 60.5, .limit = 50, .unit = AlertUnit::percent},
          .webhook_name = "Orders",
          .webhook_url = "https://shop.example/hook"};
}

Alert server_alert(std::uint8_t number) {
  Alert alert = sample_alert(number, AlertKind::store_failing);
  alert.subject.webhook_id.reset();
  alert.tenant_id.reset();
  alert.measure.reset();
  alert.webhook_name.reset();
  alert.webhook_url.reset();
  return alert;
}

}  // namespace

TEST_P(AlertContract, EmptyStoreHasNone) {
  EXPECT_TRUE(alerts().load_active()->empty());
  EXPECT_TRUE(list_alerts({}).items.empty());
}

TEST_P(AlertContract, AlertsRoundTrip) {
  ASSERT_TRUE(alerts().raise(sample_alert(2)).has_value());
  ASSERT_TRUE(alerts().raise(server_alert(1)).has_value());
  store_->reopen();
  EXPECT_EQ(*alerts().load_active(), (std::vector<Alert>{sample_alert(2), server_alert(1)}));
  EXPECT_EQ(list_alerts({}).items, (std::vector<Alert>{server_alert(1), sample_alert(2)}));
}

TEST_P(AlertContract, AlertAboutATenantKeepsItsTenant) {
  Alert alert = server_alert(1);
  alert.subject = {AlertKind::dead_letters_waiting, std::nullopt, "acme"};
  alert.tenant_id = "acme";
  Alert of_default = server_alert(2);
  of_default.subject = {AlertKind::dead_letters_waiting, std::nullopt, ""};
  of_default.tenant_id = "";
  ASSERT_TRUE(alerts().raise(alert).has_value());
  ASSERT_TRUE(alerts().raise(of_default).has_value());
  store_->reopen();
  EXPECT_EQ(*alerts().load_active(), (std::vector<Alert>{alert, of_default}));
  EXPECT_EQ(list_alerts({.tenant_id = "acme"}).items, (std::vector<Alert>{alert}));
}

TEST_P(AlertContract, AlertAboutASourceKeepsItsName) {
  Alert alert = server_alert(1);
  alert.subject = {AlertKind::source_failing, std::nullopt, std::nullopt, "shop"};
  ASSERT_TRUE(alerts().raise(alert).has_value());
  store_->reopen();
  EXPECT_EQ(*alerts().load_active(), std::vector<Alert>{alert});
  EXPECT_EQ(list_alerts({.kinds = {AlertKind::source_failing}}).items, std::vector<Alert>{alert});
}

TEST_P(AlertContract, RaisingTheSameAlertAgainChangesNothing) {
  ASSERT_TRUE(alerts().raise(sample_alert(1)).has_value());
  ASSERT_TRUE(alerts().resolve(sample_alert(1).id, store_epoch + Millis{9}).has_value());
  ASSERT_TRUE(alerts().raise(sample_alert(1)).has_value());
  EXPECT_TRUE(alerts().load_active()->empty());
  EXPECT_EQ(list_alerts({}).items.size(), 1u);
}

TEST_P(AlertContract, UpdateReplacesMeasureAndDetailOfAnActiveAlert) {
  ASSERT_TRUE(alerts().raise(sample_alert(1)).has_value());
  ASSERT_TRUE(alerts().raise(sample_alert(2)).has_value());
  ASSERT_TRUE(alerts().resolve(sample_alert(2).id, store_epoch + Millis{9}).has_value());
  Alert counted = sample_alert(1);
  counted.measure = AlertMeasure{.count = 7, .limit = 0};
  counted.detail = "Seven.";
  Alert changed = counted;
  changed.webhook_name = "Another";
  changed.raised_at = store_epoch + Millis{99};
  ASSERT_TRUE(alerts().update(changed).has_value());
  Alert over = sample_alert(2);
  over.detail = "Too late.";
  ASSERT_TRUE(alerts().update(over).has_value());
  ASSERT_TRUE(alerts().update(sample_alert(3)).has_value());
  store_->reopen();
  EXPECT_EQ(*alerts().load_active(), (std::vector<Alert>{counted}));
  const Listed<Alert> listed = list_alerts({});
  ASSERT_EQ(listed.items.size(), 2u);
  EXPECT_EQ(listed.items[0].detail, sample_alert(2).detail);
}

TEST_P(AlertContract, ResolvedAlertIsInactiveAndKeepsItsFirstEnd) {
  ASSERT_TRUE(alerts().raise(sample_alert(1)).has_value());
  ASSERT_TRUE(alerts().raise(sample_alert(2)).has_value());
  ASSERT_TRUE(alerts().resolve(sample_alert(1).id, store_epoch + Millis{9}).has_value());
  ASSERT_TRUE(alerts().resolve(sample_alert(1).id, store_epoch + Millis{10}).has_value());
  ASSERT_TRUE(alerts().resolve(sample_alert(7).id, store_epoch).has_value());
  EXPECT_EQ(*alerts().load_active(), (std::vector<Alert>{sample_alert(2)}));
  Alert over = sample_alert(1);
  over.resolved_at = store_epoch + Millis{9};
  EXPECT_EQ(list_alerts({.active = false}).items, (std::vector<Alert>{over}));
  EXPECT_EQ(list_alerts({.active = true}).items, (std::vector<Alert>{sample_alert(2)}));
}

TEST_P(AlertContract, AppliesAllFilters) {
  Alert of_other_tenant = sample_alert(3, AlertKind::dns_failing);
  of_other_tenant.tenant_id = "";
  for (const Alert& alert : {sample_alert(1), sample_alert(2, AlertKind::dead_letters),
                             of_other_tenant, server_alert(4)}) {
    ASSERT_TRUE(alerts().raise(alert).has_value());
  }
  EXPECT_EQ(list_alerts({.tenant_id = ""}).items, (std::vector<Alert>{of_other_tenant}));
  EXPECT_EQ(list_alerts({.tenant_id = "acme"}).items.size(), 2u);
  EXPECT_EQ(list_alerts({.webhook_id = first_}).items, (std::vector<Alert>{sample_alert(1)}));
  EXPECT_EQ(list_alerts({.kinds = {AlertKind::store_failing, AlertKind::dns_failing}}).items,
            (std::vector<Alert>{server_alert(4), of_other_tenant}));
  EXPECT_TRUE(
      list_alerts({.webhook_id = first_, .kinds = {AlertKind::dead_letters}}).items.empty());
}

TEST_P(AlertContract, PagesFollowEachOtherWithoutAGap) {
  for (std::uint8_t number = 1; number <= 5; ++number) {
    ASSERT_TRUE(alerts().raise(sample_alert(number)).has_value());
  }
  std::vector<Alert> listed_alerts;
  Page page{.limit = 2};
  for (int i = 0; i < 3; ++i) {
    const Listed<Alert> listed = list_alerts({}, page);
    listed_alerts.insert(listed_alerts.end(), listed.items.begin(), listed.items.end());
    page.before = listed.next;
    EXPECT_EQ(listed.next.has_value(), i < 2);
  }
  EXPECT_EQ(listed_alerts, (std::vector<Alert>{sample_alert(5), sample_alert(4), sample_alert(3),
                                               sample_alert(2), sample_alert(1)}));
  EXPECT_EQ(list_alerts({}, {.limit = 1, .offset = 3}).items,
            (std::vector<Alert>{sample_alert(2)}));
}

TEST_P(AlertContract, RemovesAtMostLimitOldResolvedAlerts) {
  for (std::uint8_t number = 1; number <= 4; ++number) {
    ASSERT_TRUE(alerts().raise(sample_alert(number)).has_value());
  }
  for (std::uint8_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(
        alerts().resolve(sample_alert(number).id, store_epoch + Millis{10 * number}).has_value());
  }
  EXPECT_EQ(alerts().remove_resolved(store_epoch + Millis{30}, 1).value(), 1u);
  EXPECT_EQ(alerts().remove_resolved(store_epoch + Millis{30}, 5).value(), 1u);
  EXPECT_EQ(alerts().remove_resolved(store_epoch + Millis{30}, 5).value(), 0u);
  EXPECT_EQ(list_alerts({}).items.size(), 2u);
}

}  // namespace postrider::test
