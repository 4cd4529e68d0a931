#include "runtime/notifications/notification_maker.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const ChannelId operators{{1}};
const ChannelId owners{{2}};
const WebhookId orders{{7}};

class NotificationMakerTest : public testing::Test {
 protected:
  NotificationMakerTest() {
    operators_.id = operators;
    operators_.email.to = {"ops@example.com"};
    owners_.id = owners;
    owners_.tenant_id = "acme";
    owners_.email.to_owner = true;
    webhook_.id = orders;
    webhook_.tenant_id = "acme";
    webhook_.owner_email = "ann@example.com";
    alert_.id = AlertId{{3}};
    alert_.subject = {AlertKind::circuit_opened, orders};
    alert_.tenant_id = "acme";
    alert_.raised_at = noon;
    alert_.detail = "It opened.";
    alert_.measure = AlertMeasure{.count = 5, .limit = 3};
    alert_.webhook_name = "Orders";
    alert_.webhook_url = "https://example.com/";
  }

  NotificationMaker maker() {
    return NotificationMaker{
        {.new_uuid = [this] { return ids_.next(noon); },
         .channels =
             [this] {
               return std::make_shared<const ChannelDirectory>(
                   std::vector<NotificationChannel>{operators_, owners_});
             },
         .webhooks =
             [this] {
               return std::make_shared<const Directory>(
                   std::vector<WebhookRef>{std::make_shared<const Webhook>(webhook_)});
             },
         .access = [] { return std::make_shared<const AccessSnapshot>(); },
         .failing = [] { return std::set<ChannelId>{}; }}};
  }

  UuidGenerator ids_{1};
  NotificationChannel operators_;
  NotificationChannel owners_;
  Webhook webhook_;
  Alert alert_;
};

TEST_F(NotificationMakerTest, MakesOneForEachChannel) {
  const std::vector<Notification> made =
      maker().of_alert(alert_, NotificationTransition::raised, noon);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].channel_id, operators);
  EXPECT_EQ(made[1].channel_id, owners);
  EXPECT_NE(made[0].id, made[1].id);
  EXPECT_EQ(made[0].kind, NotificationKind::of(AlertKind::circuit_opened));
  EXPECT_EQ(made[0].alert_id, alert_.id);
  EXPECT_EQ(made[0].made_at, noon);
  EXPECT_EQ(made[0].state, NotificationState::waiting);
  const NotificationFacts& facts = made[0].facts;
  EXPECT_EQ(facts.tenant_id, "acme");
  EXPECT_EQ(facts.webhook_id, orders);
  EXPECT_EQ(facts.webhook_name, "Orders");
  EXPECT_EQ(facts.webhook_url, "https://example.com/");
  EXPECT_EQ(facts.detail, "It opened.");
  EXPECT_EQ(facts.measure, alert_.measure);
  EXPECT_EQ(facts.raised_at, noon);
  EXPECT_EQ(facts.owner_email, "ann@example.com");
}

TEST_F(NotificationMakerTest, AChannelWithoutARecipientOwesNothing) {
  webhook_.owner_email.reset();
  EXPECT_EQ(maker().of_alert(alert_, NotificationTransition::raised, noon).size(), 1u);
}

TEST_F(NotificationMakerTest, TellsAboutFinishedOperations) {
  Operation operation;
  operation.id = OperationId{{4}};
  operation.kind = OperationKind::retry_batch;
  operation.tenant_id = "acme";
  operation.status = OperationStatus::running;
  operation.started_at = noon;
  EXPECT_TRUE(maker().of_operation(operation, noon).empty());
  operation.status = OperationStatus::cancelled;  // A user did this.
  EXPECT_TRUE(maker().of_operation(operation, noon).empty());
  operation.status = OperationStatus::completed;
  operation.done = 3;
  operation.outcomes = {.requeued = 3, .succeeded = 2, .dead_again = 1};
  const std::vector<Notification> made = maker().of_operation(operation, noon);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].transition, NotificationTransition::finished);
  EXPECT_EQ(made[0].facts.operation_id, operation.id);
  EXPECT_EQ(made[0].facts.detail,
            "The operation " + operation.id.to_string() +
                " (retry_batch) has completed: 3 deliveries were changed, 0 were skipped. Of "
                "those sent again, 2 succeeded, 1 became dead letters and 0 were cancelled.");
}

TEST(RecipientsOf, HaveNoRepetitions) {
  NotificationChannel channel;
  channel.email = {.to = {"a@example.com", "b@example.com", "a@example.com"}, .to_owner = true};
  Notification notification;
  notification.facts.owner_email = "b@example.com";
  const AccessSnapshot access;
  Recipients found = recipients_of(channel, notification, access);
  EXPECT_EQ(found.operators, (std::vector<std::string>{"a@example.com", "b@example.com"}));
  EXPECT_TRUE(found.tenants.empty());
  channel.tenant_id = "acme";
  found = recipients_of(channel, notification, access);
  EXPECT_TRUE(found.operators.empty());
  EXPECT_EQ(found.tenants, (std::vector<std::string>{"a@example.com", "b@example.com"}));
}

}  // namespace
}  // namespace postrider
