#include "adapters/postgres/store/database/store_size.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "adapters/postgres/store/retention/test_rows.h"

namespace postrider::postgres {
namespace {

using Sizes = std::map<std::string, double>;

Sizes by_table(const std::vector<MetricSample>& samples) {
  Sizes sizes;
  for (const MetricSample& sample : samples) {
    EXPECT_EQ(sample.name, "postrider_store_bytes");
    EXPECT_TRUE(sizes.emplace(sample.labels.front().second, sample.value).second);
  }
  return sizes;
}

class StoreSizeTest : public StoreRows {
 protected:
  Sizes read() {
    const auto samples = read_store_size(session_);
    EXPECT_TRUE(samples.has_value()) << samples.error().message;
    return by_table(samples.value_or(std::vector<MetricSample>{}));
  }
};

TEST_F(StoreSizeTest, PartitionsCountForTheirTables) {
  const WallTime now = *parse_rfc3339("2026-01-15T12:00:00Z");
  const Sizes empty = read();
  EXPECT_EQ(empty.size(), 5u);
  make_partitions(now);
  const EventId event = add_event(now);
  add_final(event, now);
  const Sizes sizes = read();
  for (const char* table : {"event", "delivery", "attempt"}) {
    EXPECT_GT(sizes.at(table), empty.at(table)) << table;
  }
  EXPECT_EQ(sizes.at("waiting"), empty.at("waiting"));
  EXPECT_GT(sizes.at("other"), 0);
}

TEST_F(StoreSizeTest, TheMonitorShowsTheLatestAnswer) {
  const Sizes expected = read();
  const StoreSizeMonitor monitor{options(), Millis{1}};
  Sizes shown;
  const auto wait_while_empty_is = [&](bool empty) {
    for (int i = 0; i < 4'000 && shown.empty() == empty; ++i) {
      (void)wait(-1, Direction::read, nullptr, Deadline{Millis{5}});
      shown = by_table(monitor.samples());
    }
  };
  wait_while_empty_is(true);
  EXPECT_EQ(shown, expected);
  postrider::test::postgres_server().command("stop");
  wait_while_empty_is(false);
  EXPECT_TRUE(shown.empty()) << "the database is away";
  postrider::test::postgres_server().command("start");
}

}  // namespace
}  // namespace postrider::postgres
