#include "core/model/notification_channel.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(NotificationKind, TextAndValueMatch) {
  for (const NotificationKind kind : choosable_kinds()) {
    EXPECT_EQ(parse_notification_kind(to_string(kind)), kind) << to_string(kind);
  }
  EXPECT_EQ(to_string(NotificationKind::operation_finished()), "operation_finished");
  EXPECT_EQ(parse_notification_kind("test"), NotificationKind::test());
  EXPECT_EQ(parse_notification_kind("alert"), std::nullopt);
}

TEST(NotificationKind, AChannelChoosesAmongAllAlertsAndFinishedOperations) {
  const std::vector<NotificationKind>& kinds = choosable_kinds();
  EXPECT_EQ(kinds.size(), alert_kind_count);  // Without circuit_recovered.
  EXPECT_EQ(std::ranges::count(kinds, NotificationKind::of(AlertKind::circuit_recovered)), 0);
  EXPECT_EQ(std::ranges::count(kinds, NotificationKind::test()), 0);
  EXPECT_EQ(kinds.back(), NotificationKind::operation_finished());
}

TEST(NotificationKind, TheSeverityIsThatOfTheAlert) {
  EXPECT_EQ(severity_of(NotificationKind::of(AlertKind::store_failing)), Severity::critical);
  EXPECT_EQ(severity_of(NotificationKind::operation_finished()), Severity::info);
  EXPECT_EQ(severity_of(NotificationKind::test()), Severity::info);
}

TEST(NotificationChannel, BelongsToItsTenantOrToTheServer) {
  NotificationChannel channel;
  EXPECT_EQ(owner_of(channel), reserved_tenant);
  channel.tenant_id = "acme";
  EXPECT_EQ(owner_of(channel), "acme");
  channel.tenant_id = "";  // The default tenant.
  EXPECT_EQ(owner_of(channel), "");
}

}  // namespace
}  // namespace postrider
