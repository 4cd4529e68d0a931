#include "runtime/admin/load_access.h"

#include <chrono>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/test_digest.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = wall_from_unix_ms(1'750'000'000'000);

class LoadAccessTest : public testing::Test {
 protected:
  LoadAccessTest() { memory_.digest = test::test_digest; }

  static ApiKey make_key(std::uint8_t number, const std::string& sha256) {
    ApiKey key;
    key.id.bytes[15] = number;
    key.sha256 = sha256;
    key.created_at = now;
    return key;
  }

  MemoryStore memory_;
  Store store_ = make_memory_store(memory_);
};

TEST_F(LoadAccessTest, LoadsStoredKeys) {
  const ApiKey key = make_key(1, "first");
  memory_.api_keys.emplace(key.id, key);
  const auto access = load_access(store_, std::nullopt, now);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->find_key("first"));
  EXPECT_TRUE(memory_.audit.empty());
}

TEST_F(LoadAccessTest, StoresAndAuditsTheOperatorsKey) {
  const ApiKey key = make_key(1, "first");
  const auto access = load_access(store_, key, now);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->find_key("first"));
  EXPECT_EQ(memory_.api_keys.at(key.id), key);
  ASSERT_EQ(memory_.audit.size(), 1u);
  EXPECT_EQ(memory_.audit.front().entry.action, "api_key.create");
  EXPECT_EQ(memory_.audit.front().entry.subject, key.id.to_string());
}

TEST_F(LoadAccessTest, ReplacesTheKeyWithTheSameId) {
  const ApiKey old = make_key(1, "old");
  memory_.api_keys.emplace(old.id, old);
  const auto access = load_access(store_, make_key(1, "new"), now);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->find_key("new"));
  EXPECT_FALSE(access->find_key("old"));
  EXPECT_EQ(access->keys().size(), 1u);
  EXPECT_EQ(memory_.api_keys.at(old.id).sha256, "new");
}

TEST_F(LoadAccessTest, RemovesExpiredPortalSessions) {
  ApiKey session = make_key(1, "session");
  session.scope = KeyScope::tenant;
  session.portal_session = true;
  session.expires_at = now - 1s;
  memory_.api_keys.emplace(session.id, session);
  const auto access = load_access(store_, std::nullopt, now);
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->find_key("session"));
  EXPECT_TRUE(memory_.api_keys.empty());
}

}  // namespace
}  // namespace postrider
