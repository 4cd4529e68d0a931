#include "main/configured_event_types.h"

#include <map>

#include <gtest/gtest.h>

namespace postrider {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

class MemoryEventTypes final : public EventTypes {
 public:
  Result<std::vector<EventType>> load() override {
    std::vector<EventType> types;
    for (const auto& [name, type] : types_) {
      types.push_back(type);
    }
    return types;
  }
  Result<void> put(const EventType& type) override {
    types_[type.name] = type;
    return {};
  }
  Result<void> remove(const std::string& name) override {
    types_.erase(name);
    return {};
  }

  std::map<std::string, EventType> types_;
};

TEST(ConfiguredEventTypes, MissingTypesAreAddedWithTheirDescription) {
  MemoryEventTypes catalogue;
  ASSERT_TRUE(add_missing_event_types(
      catalogue, {{.name = "a.made", .description = "Was made."}, {.name = "b.made"}}, now));
  ASSERT_EQ(catalogue.types_.size(), 2u);
  EXPECT_EQ(catalogue.types_["a.made"].description, "Was made.");
  EXPECT_EQ(catalogue.types_["a.made"].created_at, now);
  EXPECT_EQ(catalogue.types_["a.made"].updated_at, now);
  EXPECT_EQ(catalogue.types_["b.made"].description, std::nullopt);
}

TEST(ConfiguredEventTypes, ExistingTypesAreNotChanged) {
  MemoryEventTypes catalogue;
  catalogue.types_["a.made"] = {.name = "a.made", .description = "Edited by hand."};
  ASSERT_TRUE(
      add_missing_event_types(catalogue, {{.name = "a.made", .description = "Was made."}}, now));
  EXPECT_EQ(catalogue.types_["a.made"].description, "Edited by hand.");
}

}  // namespace
}  // namespace postrider
