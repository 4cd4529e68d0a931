#include "adapters/redis/failure_text.h"

#include <gtest/gtest.h>

namespace postrider::redis {
namespace {

Reply error(std::string text) { return {.kind = Reply::Kind::error, .text = std::move(text)}; }

TEST(RedisFailure, IsExplained) {
  struct Case {
    const char* error;
    const char* sentence;
  };
  const Case cases[] = {
      {"WRONGTYPE Operation against a key holding the wrong kind of value",
       "The key `orders` of Redis is not a stream."},
      {"WRONGPASS invalid username-password pair or user is disabled.",
       "Redis rejected the user or password of the address."},
      {"NOAUTH Authentication required.", "Redis requires a password. Add it to the address."},
      {"READONLY You can't write against a read only replica.",
       "This Redis server is a read-only replica. Use the primary's address."},
      {"LOADING Redis is loading the dataset in memory", "Redis is loading its data from disk."},
      {"OOM command not allowed when used memory > 'maxmemory'.",
       "Redis has reached its memory limit (maxmemory) and refuses to write."},
      {"MOVED 3999 127.0.0.1:6381",
       "The key `orders` is on another node of the Redis cluster, at 127.0.0.1:6381. A source uses "
       "one server."},
      {"ERR unknown command 'XAUTOCLAIM', with args beginning with:",
       "Redis 6.2 or later is required: ERR unknown command 'XAUTOCLAIM', with args beginning "
       "with:."},
      {"ERR something else\r\x1b", "Redis refused: ERR something else??."},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(explain_error(error(each.error), "orders"), each.sentence);
  }
}

TEST(RedisFailure, LongTextIsCut) {
  EXPECT_LT(explain_error(error(std::string(100'000, 'x')), "orders").size(), 300u);
}

TEST(RedisFailure, IsUnavailableAndOtherRepliesAreNoFailure) {
  const Result<Reply> refused = expect_success(error("OOM"), "orders");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_TRUE(expect_success(Reply{}, "orders"));
}

}  // namespace
}  // namespace postrider::redis
