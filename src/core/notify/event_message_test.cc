#include "core/notify/event_message.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

Notification make() {
  Notification made;
  made.id = NotificationId{{1}};
  made.kind = NotificationKind::of(AlertKind::circuit_opened);
  made.alert_id = AlertId{{3}};
  made.facts.tenant_id = "acme";
  made.facts.webhook_id = WebhookId{{7}};
  made.facts.webhook_name = "\"Orders\"";
  made.facts.detail = "10.0.0.7 failed.";
  made.facts.measure = AlertMeasure{.count = 33.5, .limit = 50, .unit = AlertUnit::percent};
  made.facts.raised_at = noon;
  return made;
}

TEST(EventData, HasWhatTheMessageSays) {
  const std::vector<Notification> one{make()};
  const std::string webhook_id = WebhookId{{7}}.to_string();
  EXPECT_EQ(event_data({.notifications = one, .public_url = "https://p.example"}, "Circuit opened"),
            R"({"kind":"circuit_opened","transition":"raised","severity":"warning","count":1,)"
            R"("text":"Circuit opened","notifications":[{"id":")" +
                NotificationId{{1}}.to_string() +
                R"(","kind":"circuit_opened","transition":"raised","alert_id":")" +
                AlertId{{3}}.to_string() +
                R"(","operation_id":null,"tenant_id":"acme","webhook_id":")" + webhook_id +
                R"(","webhook_name":"\"Orders\"","webhook_url":null,"source":null,)"
                R"("detail":"10.0.0.7 failed.","measured":33.5,"limit":50,"unit":"percent",)"
                R"("raised_at":"2026-01-01T12:00:00.000Z","resolved_at":null,)"
                R"("link":"https://p.example/webhooks/)" +
                webhook_id + R"("}]})");
}

TEST(EventData, IsValidJsonAndBounded) {
  const std::vector<Notification> many(1'000, make());
  const std::string data = event_data({.notifications = many, .for_tenant = true}, "\"\n");
  EXPECT_TRUE(check_json(data));
  EXPECT_LT(data.size(), 100'000u);
  EXPECT_NE(data.find("\"count\":1000,"), std::string::npos);
  EXPECT_EQ(data.find("10.0.0.7"), std::string::npos);
}

}  // namespace
}  // namespace postrider
