#include "main/admin_key.h"

#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

TEST(AdminKey, IsGeneratedAndShownOnceIfThereIsNone) {
  const AdminKey key = choose_admin_key(std::nullopt, {}, now);
  ASSERT_TRUE(key.to_show);
  ASSERT_TRUE(key.to_store);
  EXPECT_EQ(key.to_show->reveal().size(), 4u + 52u);
  EXPECT_EQ(key.to_store->sha256, sha256(key.to_show->reveal()));
  EXPECT_EQ(key.to_store->sha256.find(key.to_show->reveal()), std::string::npos);

  const AdminKey again = choose_admin_key(std::nullopt, {*key.to_store}, now);
  EXPECT_FALSE(again.to_show);
  EXPECT_FALSE(again.to_store);
  EXPECT_FALSE(again.link);
}

TEST(AdminKey, AGeneratedKeyComesWithALinkOfItsOwn) {
  const AdminKey key = choose_admin_key(std::nullopt, {}, now);
  ASSERT_TRUE(key.link && key.link_token);
  EXPECT_EQ(key.link->sha256, sha256(key.link_token->reveal()));
  EXPECT_EQ(key.link->created_by, key.to_store->id);
  EXPECT_EQ(key.link->scope, KeyScope::admin);
  EXPECT_GT(key.link->expires_at, now);
  EXPECT_FALSE(choose_admin_key(Secret<std::string>{"given by the operator"}, {}, now).link);
}

TEST(AdminKey, FromTheEnvironmentIsStoredOnceAndNeverShown) {
  const Secret<std::string> given{"operator's own key"};
  const AdminKey key = choose_admin_key(given, {}, now);
  EXPECT_FALSE(key.to_show);
  ASSERT_TRUE(key.to_store);
  EXPECT_EQ(key.to_store->scope, KeyScope::admin);

  const AdminKey again = choose_admin_key(given, {*key.to_store}, now);
  EXPECT_FALSE(again.to_store);
}

TEST(AdminKey, FromTheEnvironmentReplacesOnlyItsPredecessor) {
  const AdminKey made = choose_admin_key(std::nullopt, {}, now);
  const AdminKey first = choose_admin_key(Secret<std::string>{"first"}, {*made.to_store}, now);
  ASSERT_TRUE(first.to_store);
  EXPECT_NE(first.to_store->id, made.to_store->id);
  const AdminKey second =
      choose_admin_key(Secret<std::string>{"second"}, {*made.to_store, *first.to_store}, now);
  ASSERT_TRUE(second.to_store);
  EXPECT_EQ(second.to_store->id, first.to_store->id);
  // A generated key that is also given in the environment replaces the predecessor as well.
  EXPECT_EQ(choose_admin_key(*made.to_show, {*made.to_store, *second.to_store}, now).to_store->id,
            second.to_store->id);
}

TEST(AdminKey, EveryGeneratedKeyIsDifferent) {
  EXPECT_NE(choose_admin_key(std::nullopt, {}, now).to_show->reveal(),
            choose_admin_key(std::nullopt, {}, now).to_show->reveal());
}

}  // namespace
}  // namespace postrider
