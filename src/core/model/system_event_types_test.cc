#include "core/model/system_event_types.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "core/filter/event_pattern.h"
#include "core/json/json_text.h"
#include "core/model/event.h"

namespace postrider {
namespace {

TEST(SystemEventTypes, HaveReservedNamesASchemaAndAnExample) {
  EXPECT_EQ(system_event_types().size(), 6u);
  EXPECT_TRUE(std::ranges::is_sorted(system_event_types(), {}, &EventType::name));
  for (const EventType& type : system_event_types()) {
    EXPECT_TRUE(is_event_type(type.name)) << type.name;
    EXPECT_TRUE(is_reserved_type(type.name)) << type.name;
    EXPECT_TRUE(read_json_object(*type.schema)) << type.name;
    EXPECT_TRUE(read_json_object(*type.example)) << *type.example;
  }
}

TEST(SystemEventTypes, EveryNotificationHasAType) {
  using Transition = NotificationTransition;
  const auto type = [](AlertKind kind, Transition transition) {
    return system_event_type(NotificationKind::of(kind), transition);
  };
  EXPECT_EQ(type(AlertKind::circuit_opened, Transition::raised), "postrider.alert.raised");
  EXPECT_EQ(type(AlertKind::circuit_opened, Transition::resolved), "postrider.alert.resolved");
  EXPECT_EQ(type(AlertKind::webhook_disabled, Transition::raised), "postrider.webhook.disabled");
  EXPECT_EQ(type(AlertKind::webhook_disabled, Transition::resolved), "postrider.alert.resolved");
  EXPECT_EQ(type(AlertKind::permanent_failure, Transition::raised),
            "postrider.delivery.dead_letter");
  EXPECT_EQ(type(AlertKind::secret_old, Transition::raised), "postrider.secret.expiring");
  EXPECT_EQ(system_event_type(NotificationKind::operation_finished(), Transition::finished),
            "postrider.operation.finished");
  EXPECT_EQ(system_event_type(NotificationKind::test(), Transition::test), "postrider.test");
}

}  // namespace
}  // namespace postrider
