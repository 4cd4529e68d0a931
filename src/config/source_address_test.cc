#include "config/source_address.h"

#include <gtest/gtest.h>

namespace postrider::config {
namespace {

TEST(SourceAddress, ThePasswordIsNotShown) {
  struct Case {
    std::string_view address;
    std::string_view shown;
  };
  const Case cases[] = {
      {"postgres://app:canary@db:5432/shop", "postgres://app:***@db:5432/shop"},
      {"postgres://app@db/shop", "postgres://app@db/shop"},
      {"postgres://db/shop", "postgres://db/shop"},
      {"postgres://app:can@ary@db/shop", "postgres://app:***@db/shop"},
      {"postgres://app:can/ary?x@db/shop", "postgres://app:***@db/shop"},
      {"postgres://db/shop?password=canary&sslmode=require",
       "postgres://db/shop?password=***&sslmode=require"},
      {"postgres://db/shop?canary", "postgres://db/shop?canary=***"},
      {"redis://:canary@cache/0", "redis://:***@cache/0"},
      {"redis://canary@cache/0", "redis://***@cache/0"},
      {"rediss://cache", "rediss://cache"},
      {"amqps://guest:canary@mq/%2f?heartbeat=30", "amqps://guest:***@mq/%2f?heartbeat=30"},
      {"canary", "***"},
      {"", "***"},
      {"x://", "x://"},
      {"x://a?", "x://a"},
      {"x://a?&&", "x://a?=***&=***"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(shown_address(c.address), c.shown);
  }
}

TEST(SourceAddress, MustHaveASchemeOfTheKind) {
  EXPECT_TRUE(is_source_address(SourceKind::outbox, "postgres://db/shop"));
  EXPECT_TRUE(is_source_address(SourceKind::outbox, "postgresql://db/shop"));
  EXPECT_TRUE(is_source_address(SourceKind::redis, "rediss://cache"));
  EXPECT_TRUE(is_source_address(SourceKind::amqp, "amqps://mq"));
  for (const std::string_view address :
       {"", "postgres://", "redis://cache", "host=db", "POSTGRES://db", "postgres://d b",
        "postgres://db\n", "postgres://d\xc3\xa4"}) {
    EXPECT_FALSE(is_source_address(SourceKind::outbox, address)) << address;
  }
  EXPECT_FALSE(is_source_address(SourceKind::amqp, "amqp://" + std::string(5000, 'a')));
  EXPECT_EQ(schemes_of(SourceKind::amqp), "amqp:// or amqps://");
}

}  // namespace
}  // namespace postrider::config
