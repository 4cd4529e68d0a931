#include "engine/notify/notification_plan.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

const ChannelId server_channel{{1}};
const ChannelId acme_channel{{2}};
const ChannelId other_channel{{3}};
const WebhookId orders{{7}};

NotificationChannel make(ChannelId id, std::optional<TenantId> tenant_id) {
  NotificationChannel channel;
  channel.id = id;
  channel.tenant_id = std::move(tenant_id);
  return channel;
}

class Plan : public testing::Test {
 protected:
  /// The ids of the channels that are told, the first two with the test's changes.
  std::vector<ChannelId> told(const NotificationCause& cause) const {
    const ChannelDirectory channels{{server_, acme_, make(other_channel, "other")}};
    std::vector<ChannelId> ids;
    for (const ChannelRef& channel : channels_for(channels, cause, failing_)) {
      ids.push_back(channel->id);
    }
    return ids;
  }

  NotificationChannel server_ = make(server_channel, std::nullopt);
  NotificationChannel acme_ = make(acme_channel, "acme");
  std::set<ChannelId> failing_;
  NotificationCause opened_{.kind = NotificationKind::of(AlertKind::circuit_opened),
                            .transition = NotificationTransition::raised,
                            .tenant_id = "acme",
                            .webhook_id = orders};
};

using Ids = std::vector<ChannelId>;

TEST_F(Plan, TheServerAndTheAffectedTenantAreTold) {
  EXPECT_EQ(told(opened_), (Ids{server_channel, acme_channel}));
  opened_.tenant_id = "other";
  EXPECT_EQ(told(opened_), (Ids{server_channel, other_channel}));
  opened_.tenant_id = "third";
  EXPECT_EQ(told(opened_), Ids{server_channel});
}

TEST_F(Plan, WhatConcernsTheServerIsToldToItsChannels) {
  EXPECT_EQ(told({.kind = NotificationKind::of(AlertKind::store_failing)}), Ids{server_channel});
}

TEST_F(Plan, AChannelChoosesKindsSeverityAndWebhooks) {
  server_.kinds = {NotificationKind::of(AlertKind::dns_failing)};
  EXPECT_EQ(told(opened_), Ids{acme_channel});
  server_.kinds.push_back(opened_.kind);
  EXPECT_EQ(told(opened_), (Ids{server_channel, acme_channel}));
  server_.severity_min = Severity::critical;
  EXPECT_EQ(told(opened_), Ids{acme_channel});
  server_.severity_min = Severity::warning;
  server_.webhook_ids = {WebhookId{{8}}};
  EXPECT_EQ(told(opened_), Ids{acme_channel});
  server_.webhook_ids.push_back(orders);
  EXPECT_EQ(told(opened_), (Ids{server_channel, acme_channel}));
}

TEST_F(Plan, AChannelOfChosenWebhooksIsNotToldAboutTheServer) {
  server_.webhook_ids = {orders};
  EXPECT_EQ(told({.kind = NotificationKind::of(AlertKind::store_failing)}), Ids{});
}

TEST_F(Plan, AChannelThatIsOffIsNotTold) {
  server_.active = false;
  EXPECT_EQ(told(opened_), Ids{acme_channel});
}

TEST_F(Plan, ResolutionsAreToldWhereTheyAreWanted) {
  opened_.transition = NotificationTransition::resolved;
  acme_.send_resolved = false;
  EXPECT_EQ(told(opened_), Ids{server_channel});
}

TEST_F(Plan, TheEndOfAnAlertThatCountsIsNoNews) {
  opened_.kind = NotificationKind::of(AlertKind::permanent_failure);
  EXPECT_EQ(told(opened_), (Ids{server_channel, acme_channel}));
  opened_.transition = NotificationTransition::resolved;
  EXPECT_EQ(told(opened_), Ids{});
}

TEST_F(Plan, FinishedOperationsAreTold) {
  EXPECT_EQ(told({.kind = NotificationKind::operation_finished(),
                  .transition = NotificationTransition::finished,
                  .tenant_id = "acme"}),
            (Ids{server_channel, acme_channel}));
}

TEST_F(Plan, AChannelIsNotToldAboutItsOwnWebhook) {
  acme_.kind = ChannelKind::slack;
  acme_.webhook_id = orders;
  EXPECT_EQ(told(opened_), Ids{server_channel});
  server_.kind = ChannelKind::slack;
  server_.webhook_id = WebhookId{{9}};
  opened_.webhook_id = server_.webhook_id;
  opened_.tenant_id = TenantId{reserved_tenant};
  EXPECT_EQ(told(opened_), Ids{});
}

TEST_F(Plan, AFailingChannelIsNotToldThatItFails) {
  failing_ = {acme_channel};
  EXPECT_EQ(told(opened_), (Ids{server_channel, acme_channel}));
  opened_.kind = NotificationKind::of(AlertKind::notifications_failing);
  opened_.webhook_id.reset();
  EXPECT_EQ(told(opened_), Ids{server_channel});
}

}  // namespace
}  // namespace postrider
