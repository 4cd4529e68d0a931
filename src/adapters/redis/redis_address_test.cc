#include "adapters/redis/redis_address.h"

#include <gtest/gtest.h>

namespace postrider::redis {
namespace {

TEST(RedisAddress, HasDefaults) {
  const Result<RedisAddress> address = parse_redis_address("redis://cache.example");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_FALSE(address->tls);
  EXPECT_EQ(address->host, "cache.example");
  EXPECT_EQ(address->port, 6379);
  EXPECT_EQ(address->user, "");
  EXPECT_EQ(address->password.reveal(), "");
  EXPECT_EQ(address->database, 0u);
}

TEST(RedisAddress, ReadsEveryPart) {
  const Result<RedisAddress> address =
      parse_redis_address("rediss://app:p%40ss%3Aw%2Ford@[::1]:7000/12");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_TRUE(address->tls);
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 7000);
  EXPECT_EQ(address->user, "app");
  EXPECT_EQ(address->password.reveal(), "p@ss:w/ord");
  EXPECT_EQ(address->database, 12u);
}

TEST(RedisAddress, APasswordWithoutUserIsThatOfTheDefaultUser) {
  const Result<RedisAddress> address = parse_redis_address("redis://:a@b:c@host/");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->user, "");
  EXPECT_EQ(address->password.reveal(), "a@b:c");
  EXPECT_EQ(address->host, "host");
  EXPECT_EQ(address->database, 0u);
}

class BadRedisAddress : public testing::TestWithParam<const char*> {};

TEST_P(BadRedisAddress, IsRefusedWithoutShowingThePassword) {
  const Result<RedisAddress> address = parse_redis_address(GetParam());
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, Errc::invalid);
  EXPECT_EQ(address.error().message.find("secret"), std::string::npos);
  EXPECT_TRUE(address.error().message.ends_with("."));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRedisAddress,
    testing::Values("", "cache:6379", "http://:secret@cache", "redis://", "redis://:secret@",
                    "redis://user@cache", "redis://:secret@cache:0", "redis://:secret@cache:65536",
                    "redis://:secret@cache:6379x", "redis://:secret@cache:", "redis://[::1",
                    "redis://[::1]x", "redis://:secret@cache/one", "redis://:secret@cache/-1",
                    "redis://:secret@cache/99999999999", "redis://:secret@cache/0/1",
                    "redis://:secret@cache?db=1", "redis://:secret%4@cache", "redis://:se%zz@cache",
                    "redis://:secret@ca che", "redis://:secret@cache\n"));

}  // namespace
}  // namespace postrider::redis
