// The idempotency keys of requests: each caller can take a key once until it expires.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

constexpr Millis life = std::chrono::hours{24};

const std::string raw_digest("digest\0\xff", 8);

RequestKey key_of(std::string caller, std::string key, std::string digest = raw_digest) {
  return {.caller = std::move(caller),
          .key = std::move(key),
          .digest = std::move(digest),
          .expires_at = store_epoch + life};
}

}  // namespace

TEST_P(RequestKeysContract, KeyIsTakenOnceAcrossARestart) {
  ASSERT_EQ(raw_digest.size(), 8u);
  ASSERT_TRUE(keys().take(key_of("a", "k"), "whk_1", store_epoch).has_value());
  store_->reopen();
  const Result<void> again = keys().take(key_of("a", "k", "other"), "whk_2", store_epoch);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Errc::conflict);
  EXPECT_EQ(find("a", "k", store_epoch), (KeyUse{.digest = raw_digest, .subject = "whk_1"}));
}

TEST_P(RequestKeysContract, KeysBelongToTheirCaller) {
  ASSERT_TRUE(keys().take(key_of("a", "k"), "one", store_epoch).has_value());
  EXPECT_EQ(find("b", "k", store_epoch), std::nullopt);
  EXPECT_EQ(find("a", "K", store_epoch), std::nullopt);
  ASSERT_TRUE(keys().take(key_of("b", "k"), "two", store_epoch).has_value());
  EXPECT_EQ(find("a", "k", store_epoch)->subject, "one");
  EXPECT_EQ(find("b", "k", store_epoch)->subject, "two");
}

TEST_P(RequestKeysContract, KeyLivesUntilItsExpiryExclusive) {
  ASSERT_TRUE(keys().take(key_of("a", "k"), "old", store_epoch).has_value());
  const WallTime last = store_epoch + life - Millis{1};
  EXPECT_EQ(find("a", "k", last)->subject, "old");
  EXPECT_EQ(keys().take(key_of("a", "k"), "new", last).error().code, Errc::conflict);

  const WallTime over = store_epoch + life;
  EXPECT_EQ(find("a", "k", over), std::nullopt);
  RequestKey fresh = key_of("a", "k", "another");
  fresh.expires_at = over + life;
  ASSERT_TRUE(keys().take(fresh, "new", over).has_value());
  EXPECT_EQ(find("a", "k", over), (KeyUse{.digest = "another", .subject = "new"}));
}

TEST_P(RequestKeysContract, RemovesAtMostLimitExpiredKeys) {
  for (const char* name : {"1", "2", "3"}) {
    ASSERT_TRUE(keys().take(key_of("a", name), "s", store_epoch).has_value());
  }
  RequestKey young = key_of("a", "young");
  young.expires_at = store_epoch + life + Millis{1};
  ASSERT_TRUE(keys().take(young, "s", store_epoch).has_value());
  const WallTime over = store_epoch + life;
  EXPECT_EQ(*keys().remove_expired(over - Millis{1}, 10), 0u);
  EXPECT_EQ(*keys().remove_expired(over, 2), 2u);
  EXPECT_EQ(*keys().remove_expired(over, 2), 1u);
  EXPECT_EQ(*keys().remove_expired(over, 2), 0u);
  EXPECT_EQ(find("a", "young", over)->subject, "s");
}

TEST_P(RequestKeysContract, ForgottenKeyCanBeTakenAgain) {
  ASSERT_TRUE(keys().take(key_of("a", "k"), "first", store_epoch).has_value());
  ASSERT_TRUE(keys().take(key_of("b", "k"), "other", store_epoch).has_value());
  ASSERT_TRUE(keys().forget(key_of("a", "k")).has_value());
  ASSERT_TRUE(keys().forget(key_of("a", "unknown")).has_value());
  store_->reopen();
  EXPECT_EQ(find("a", "k", store_epoch), std::nullopt);
  EXPECT_EQ(find("b", "k", store_epoch)->subject, "other");
  EXPECT_TRUE(keys().take(key_of("a", "k"), "second", store_epoch).has_value());
}

TEST_P(RequestKeysContract, TakenKeyFailsTheTransaction) {
  ASSERT_TRUE(keys().take(key_of("a", "k"), "first", store_epoch).has_value());
  UuidGenerator ids{3};
  Operation operation;
  operation.id = ids.make<OperationId>(store_epoch);
  Store& store = store_->store();
  const Result<void> done = store.atomically([&]() -> Result<void> {
    POSTRIDER_CHECK(keys().take(key_of("a", "k"), "second", store_epoch));
    return operations().put(operation);
  });
  EXPECT_EQ(done.error().code, Errc::conflict);
  store_->reopen();
  EXPECT_EQ(operations().find(operation.id).error().code, Errc::not_found);
  EXPECT_EQ(find("a", "k", store_epoch)->subject, "first");
}

}  // namespace postrider::test
