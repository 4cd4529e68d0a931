#include "runtime/store/shard_replies.h"

#include <string>

#include <gtest/gtest.h>

namespace postrider {
namespace {

/// What each call delivered: the shard, then `i` for inputs and `c` for completions.
std::vector<std::string> deliveries_of(RepliesByShard replies) {
  std::vector<std::string> calls;
  deliver_replies(replies, [&calls](std::size_t shard, const ShardReplies& given) {
    calls.push_back(std::to_string(shard) + (given.inputs.empty() ? "" : "i") +
                    (given.completions.empty() ? "" : "c"));
  });
  for (const ShardReplies& left : replies) {
    EXPECT_TRUE(left.empty());
  }
  return calls;
}

ShardReplies with(bool inputs, bool completions) {
  ShardReplies replies;
  if (inputs) {
    replies.inputs.emplace_back(Settled{});
  }
  if (completions) {
    replies.completions.emplace_back([] {});
  }
  return replies;
}

using Calls = std::vector<std::string>;

TEST(ShardReplies, ACallerIsAnsweredAfterEveryShardHasItsInputs) {
  EXPECT_EQ(deliveries_of({with(false, true), with(true, false)}), (Calls{"1i", "0c"}));
  EXPECT_EQ(deliveries_of({with(true, true), with(true, false)}), (Calls{"1i", "0ic"}));
  EXPECT_EQ(deliveries_of({with(true, true), with(true, true), with(false, false)}),
            (Calls{"0i", "1i", "0c", "1c"}));
}

TEST(ShardReplies, OneShardGetsEverythingAtOnce) {
  EXPECT_EQ(deliveries_of({with(true, true)}), Calls{"0ic"});
  EXPECT_EQ(deliveries_of({with(false, false)}), Calls{});
}

}  // namespace
}  // namespace postrider
