#include "main/source_wiring.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(SourceWiring, ANodeIsNamedByItsMachineAndDataDirectory) {
  const std::string name = node_name("db-1", "/var/lib/postrider");
  EXPECT_TRUE(name.starts_with("db-1-"));
  EXPECT_EQ(name.size(), 13u);
  EXPECT_EQ(node_name("db-1", "/var/lib/./postrider"), name);
  EXPECT_NE(node_name("db-1", "/var/lib/other"), name);
  EXPECT_NE(node_name("db-2", "/var/lib/postrider"), name);
}

}  // namespace
}  // namespace postrider
