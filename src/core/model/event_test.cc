#include "core/model/event.h"

#include <string_view>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Priority, HasItsApiNameAndSortsMostUrgentFirst) {
  struct Known {
    Priority priority;
    std::string_view name;
  };
  constexpr Known priorities[] = {
      {Priority::high, "high"}, {Priority::normal, "normal"}, {Priority::low, "low"}};
  EXPECT_EQ(std::size(priorities), priority_count);
  for (const Known& known : priorities) {
    EXPECT_EQ(to_string(known.priority), known.name);
    EXPECT_EQ(parse_priority(known.name), known.priority) << known.name;
  }
  EXPECT_LT(Priority::high, Priority::normal);
  EXPECT_LT(Priority::normal, Priority::low);
  for (const std::string_view text : {"", "HIGH", "normal ", "urgent", "1"}) {
    EXPECT_EQ(parse_priority(text), std::nullopt) << text;
  }
  EXPECT_DEATH((void)to_string(static_cast<Priority>(priority_count)), "assertion failed");
}

TEST(Event, HasNormalPriorityAndEmptyMetadataByDefault) {
  const Event event;
  EXPECT_EQ(event.priority, Priority::normal);
  EXPECT_EQ(event.metadata, "{}");
  EXPECT_EQ(event.tenant_id, "") << "the default tenant";
  EXPECT_EQ(event.resource_id, std::nullopt);
  EXPECT_EQ(event.ordering_key, std::nullopt);
}

TEST(Event, DistinguishesAnAbsentSourceFromAnEmptyOne) {
  Event absent;
  Event empty;
  empty.source = "";
  EXPECT_NE(absent, empty);
  absent.source = "";
  EXPECT_EQ(absent, empty);
}

}  // namespace
}  // namespace postrider
