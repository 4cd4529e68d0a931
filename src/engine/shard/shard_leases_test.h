// A shard of a node that shares its webhooks with others, for tests.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider::test {

constexpr ShardNumber part = 7;
constexpr ShardNumber other_part = 8;

/// The `number`th id that belongs to the part.
inline WebhookId id_in(ShardNumber shard, int number) {
  WebhookId id;
  for (std::uint32_t i = 0; number >= 0; ++i) {
    id.bytes[0] = static_cast<std::uint8_t>(i >> 8);
    id.bytes[1] = static_cast<std::uint8_t>(i);
    number -= shard_of(id) == shard ? 1 : 0;
  }
  return id;
}

class ShardLeases : public testing::Test {
 protected:
  explicit ShardLeases(ShardOptions options = {}) : driver_(leased(options)) {}

  static ShardOptions leased(ShardOptions options) {
    options.leased = true;
    return options;
  }
  WebhookId add(ShardNumber shard, const ShardDriver::Tweak& tweak = {}) {
    return driver_.add_webhook([&](Webhook& webhook) {
      webhook.id = id_in(shard, added_++);
      if (tweak) {
        tweak(webhook);
      }
    });
  }
  void acquire(Epoch epoch, ShardNumber shard = part) {
    driver_.feed(ShardAcquired{.shard = shard, .epoch = epoch});
  }
  void lose(Epoch epoch, bool at_once = false, ShardNumber shard = part) {
    driver_.feed(ShardLost{.shard = shard, .epoch = epoch, .at_once = at_once});
  }
  void abandon(const StartAttempt& start) {
    driver_.feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
  }
  /// How often the part was handed back since the last call.
  std::size_t handed_back() {
    const std::vector<ShardHandedBack> back = driver_.take<ShardHandedBack>();
    for (const ShardHandedBack& each : back) {
      EXPECT_EQ(each.shard, part);
    }
    return back.size();
  }
  StartAttempt only_start() {
    std::vector<StartAttempt> starts = driver_.take<StartAttempt>();
    EXPECT_EQ(starts.size(), 1u);
    return starts.at(0);
  }
  /// An attempt that takes long.
  StartAttempt start_slow(WebhookId webhook) {
    driver_.admit(webhook);
    StartAttempt start = only_start();
    driver_.ring_after(501ms);
    return start;
  }
  bool nothing_started() { return driver_.take<StartAttempt>().empty(); }
  bool has_lane(WebhookId id) { return driver_.has_lane(id); }

  ShardDriver driver_;
  int added_ = 0;
};

}  // namespace postrider::test
