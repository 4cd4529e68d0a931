// The invariants of ShardWorld.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/shard/shard_world_test.h"

namespace postrider::test {

std::string ShardWorld::unfinished() const {
  std::string text;
  for (const auto& [id, row] : store_.rows) {
    if (is_waiting(row.state)) {
      text += fmt::format("{} seq={} due={} now={}\n", id.to_string(), row.sequence,
                          to_unix_ms(row.due), to_unix_ms(driver_.wall()));
    }
  }
  return text;
}

void ShardWorld::check_start(const StartAttempt& start) {
  EXPECT_TRUE(store_.rows.contains(start.delivery.id));
  EXPECT_TRUE(may_start(start.delivery.webhook_id));
  if (ordering_ == Ordering::none) {
    return;
  }
  const auto same_line = [&](const Delivery& other) {
    return other.webhook_id == start.delivery.webhook_id && other.id != start.delivery.id &&
           (ordering_ == Ordering::strict || other.event_type == start.delivery.event_type);
  };
  for (const StartAttempt& other : in_flight_) {
    EXPECT_FALSE(same_line(other.delivery)) << "two at once";
  }
  for (const auto& [id, row] : store_.rows) {
    // The shard may not know yet about a revived delivery or one with an ambiguous commit.
    if (same_line(row) && is_waiting(row.state) && row.trigger == Trigger::scheduled &&
        row.sequence < start.delivery.sequence && !commit_is_ambiguous(row)) {
      ADD_FAILURE() << "overtook sequence " << row.sequence << " with " << start.delivery.sequence;
    }
  }
}

void ShardWorld::check() const {
  const ShardView totals = driver_.totals();
  EXPECT_EQ(totals.in_flight, in_flight_.size());
  EXPECT_LE(totals.in_flight, 6u);
  std::map<WebhookId, std::uint32_t> by_webhook;
  for (const StartAttempt& start : in_flight_) {
    ++by_webhook[start.delivery.webhook_id];
  }
  std::map<std::string, std::uint32_t> by_url;
  for (const StartAttempt& start : in_flight_) {
    ++by_url[driver_.webhook(start.delivery.webhook_id)->url];
  }
  for (const auto& [url, count] : by_url) {
    EXPECT_LE(count, 3u) << url;
  }
  for (const auto& [id, count] : by_webhook) {
    EXPECT_LE(count, 4u);
    EXPECT_EQ(driver_.view(id).in_flight.size(), count);
  }
  for (const WebhookId id : webhooks_) {
    if (driver_.has_lane(id)) {
      EXPECT_LE(driver_.view(id).window_count, 8u);
    } else {
      EXPECT_FALSE(is_worked(id));
    }
  }
}

bool ShardWorld::all_final() const {
  return std::ranges::none_of(store_.rows,
                              [](const auto& row) { return is_waiting(row.second.state); });
}

}  // namespace postrider::test
