#include "main/admin_key.h"

#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

TEST(AdminKey, IsMadeAndShownOnceWhenThereIsNone) {
  const AdminKey key = choose_admin_key(std::nullopt, {}, now);
  ASSERT_TRUE(key.to_show);
  ASSERT_TRUE(key.to_store);
  EXPECT_EQ(key.to_show->reveal().size(), 4u + 52u);
  EXPECT_EQ(key.to_store->sha256, sha256(key.to_show->reveal()));
  EXPECT_EQ(key.to_store->sha256.find(key.to_show->reveal()), std::string::npos);

  const AdminKey again = choose_admin_key(std::nullopt, {*key.to_store}, now);
  EXPECT_FALSE(again.to_show);
  EXPECT_FALSE(again.to_store);
}

TEST(AdminKey, OfTheOperatorIsStoredOnceAndNeverShown) {
  const Secret<std::string> given{"operator's own key"};
  const AdminKey key = choose_admin_key(given, {}, now);
  EXPECT_FALSE(key.to_show);
  ASSERT_TRUE(key.to_store);
  EXPECT_EQ(key.to_store->scope, KeyScope::admin);

  const AdminKey again = choose_admin_key(given, {*key.to_store}, now);
  EXPECT_FALSE(again.to_store);
}

TEST(AdminKey, EveryMadeKeyIsDifferent) {
  EXPECT_NE(choose_admin_key(std::nullopt, {}, now).to_show->reveal(),
            choose_admin_key(std::nullopt, {}, now).to_show->reveal());
}

}  // namespace
}  // namespace postrider
