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

  static ApiKey make_session(std::uint8_t number, const std::string& sha256, KeyId parent,
                             WallTime expires_at) {
    ApiKey session = make_key(number, sha256);
    session.expires_at = expires_at;
    session.session = SessionOrigin{.parent = parent};
    return session;
  }

  MemoryStore memory_;
  Store store_ = make_memory_store(memory_);
};

TEST_F(LoadAccessTest, LoadsStoredKeys) {
  const ApiKey key = make_key(1, "first");
  memory_.api_keys.emplace(key.id, key);
  const auto access = load_access(store_, {}, now);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->find_key("first"));
  EXPECT_TRUE(memory_.audit.empty());
}

TEST_F(LoadAccessTest, StoresAndAuditsTheOperatorsKey) {
  const ApiKey key = make_key(1, "first");
  const auto access = load_access(store_, {.key = key}, now);
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
  const auto access = load_access(store_, {.key = make_key(1, "new")}, now);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access->find_key("new"));
  EXPECT_FALSE(access->find_key("old"));
  EXPECT_EQ(access->keys().size(), 1u);
  EXPECT_EQ(memory_.api_keys.at(old.id).sha256, "new");
}

TEST_F(LoadAccessTest, AReplacedKeyTakesItsSessionsAlong) {
  const ApiKey old = make_key(1, "old");
  memory_.api_keys.emplace(old.id, old);
  const ApiKey session = make_session(2, "session", old.id, now + 1h);
  memory_.sessions.emplace(session.id, session);
  EXPECT_TRUE(load_access(store_, {}, now)->find_session("session"));
  const auto access = load_access(store_, {.key = make_key(1, "new")}, now);
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->find_session("session"));
  EXPECT_TRUE(memory_.sessions.empty());
}

TEST_F(LoadAccessTest, StoresAndAuditsALinkOfTheNewKey) {
  const ApiKey key = make_key(1, "first");
  const SignInLink link{.sha256 = "link",
                        .tenant_id = {},
                        .session = 1h,
                        .expires_at = now + 1h,
                        .scope = KeyScope::admin,
                        .created_by = key.id};
  const auto access = load_access(store_, {.key = key, .link = link}, now);
  ASSERT_TRUE(access);
  ASSERT_TRUE(access->find_link("link"));
  EXPECT_EQ(memory_.links.at("link"), link);
  ASSERT_EQ(memory_.audit.size(), 2u);
  EXPECT_EQ(memory_.audit.back().entry.action, "sign_in_link.create");
}

TEST_F(LoadAccessTest, RemovesExpiredSessions) {
  const ApiKey key = make_key(1, "first");
  memory_.api_keys.emplace(key.id, key);
  const ApiKey session = make_session(2, "session", key.id, now - 1s);
  memory_.sessions.emplace(session.id, session);
  const auto access = load_access(store_, {}, now);
  ASSERT_TRUE(access);
  EXPECT_FALSE(access->find_session("session"));
  EXPECT_TRUE(access->find_key("first"));
  EXPECT_TRUE(memory_.sessions.empty());
}

}  // namespace
}  // namespace postrider
