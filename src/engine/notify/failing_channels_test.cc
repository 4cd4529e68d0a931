#include "engine/notify/failing_channels.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

const ChannelId mail{{1}};
const ChannelId chat{{2}};
const ChannelId theirs{{3}};

NotificationChannel make(ChannelId id, std::string name, std::optional<TenantId> tenant_id = {}) {
  NotificationChannel channel;
  channel.id = id;
  channel.name = std::move(name);
  channel.tenant_id = std::move(tenant_id);
  return channel;
}

AlertChange raised(std::optional<TenantId> owner, std::string detail, double count) {
  return {.subject = {.kind = AlertKind::notifications_failing,
                      .webhook_id = std::nullopt,
                      .tenant_id = std::move(owner)},
          .active = true,
          .detail = std::move(detail),
          .measure = AlertMeasure{.count = count}};
}

AlertChange resolved(std::optional<TenantId> owner) {
  AlertChange change = raised(std::move(owner), {}, 0);
  change.active = false;
  change.measure.reset();
  return change;
}

const ChannelDirectory channels{
    {make(mail, "Mail"), make(chat, "Chat"), make(theirs, "Theirs", "acme")}};
using Changes = std::vector<AlertChange>;

TEST(FailingChannels, OneAlertPerOwner) {
  FailingChannels rules;
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{});
  EXPECT_EQ(
      rules.evaluate(channels, {{mail, "Down."}, {theirs, "Refused."}}),
      (Changes{raised({}, "The notification channel \"Mail\" cannot send: Down.", 1),
               raised("acme", "The notification channel \"Theirs\" cannot send: Refused.", 1)}));
  EXPECT_EQ(rules.evaluate(channels, {{mail, "Down."}, {theirs, "Refused."}}), Changes{});
  EXPECT_EQ(rules.evaluate(channels, {{mail, "Down."}, {chat, "Gone."}}),
            (Changes{raised({},
                            "The notification channel \"Mail\" cannot send: Down. The notification "
                            "channel \"Chat\" cannot send: Gone.",
                            2),
                     resolved("acme")}));
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{resolved({})});
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{});
}

TEST(FailingChannels, AnAlertFromBeforeTheStartWaitsForAMessage) {
  FailingChannels rules;
  Alert alert;
  alert.subject = resolved("acme").subject;
  rules.restore(alert);
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{});
  rules.sent(*channels.find(mail));
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{});
  rules.sent(*channels.find(theirs));
  EXPECT_EQ(rules.evaluate(channels, {}), Changes{resolved("acme")});
}

TEST(FailingChannels, AnAlertAboutChannelsThatAreGoneIsResolved) {
  FailingChannels rules;
  Alert alert;
  alert.subject = resolved("acme").subject;
  rules.restore(alert);
  EXPECT_EQ(rules.evaluate(ChannelDirectory{}, {{theirs, "Down."}}), Changes{resolved("acme")});
}

}  // namespace
}  // namespace postrider
