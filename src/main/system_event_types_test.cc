// The schemas of the server's own event types, with the checker that the server uses.
#include "core/model/system_event_types.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/notify/event_message.h"

#include "adapters/json_schema/schema_check.h"

namespace postrider {
namespace {

void expect_valid(const EventType& type, const std::string& data) {
  const auto check = make_schema_check(*type.schema);
  ASSERT_TRUE(check) << type.name << check.error().message;
  StepBudget budget;
  const SchemaVerdict verdict = (*check)->check(data, budget);
  EXPECT_TRUE(verdict.faults.empty())
      << type.name << verdict.faults.front().path << verdict.faults.front().message;
}

TEST(SystemEventTypes, ExamplesSatisfyTheirSchemas) {
  for (const EventType& type : system_event_types()) {
    expect_valid(type, *type.example);
  }
}

TEST(SystemEventTypes, WhatIsSentSatisfiesTheirSchemas) {
  for (const NotificationKind kind : choosable_kinds()) {
    const bool is_alert = kind.what == NotificationKind::What::alert;
    Notification notification;
    notification.kind = kind;
    notification.transition =
        is_alert ? NotificationTransition::raised : NotificationTransition::finished;
    for (int end = 0; end < (is_alert ? 2 : 1); ++end) {
      const std::string_view name = system_event_type(kind, notification.transition);
      const auto type = std::ranges::find(system_event_types(), name, &EventType::name);
      ASSERT_NE(type, system_event_types().end()) << name;
      const std::vector<Notification> told(3, notification);
      expect_valid(*type, event_data({.notifications = told}, "A text."));
      notification.transition = NotificationTransition::resolved;
      notification.facts.resolved_at = WallTime{};
      notification.facts.measure = AlertMeasure{.count = 1.5, .limit = 1};
    }
  }
}

}  // namespace
}  // namespace postrider
