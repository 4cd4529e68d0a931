#include "adapters/sqlite/copy/attempt_order.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sqlite/database/data_directory.h"

#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

using sqlite::AttemptKey;
using testing::ElementsAre;
using testing::IsEmpty;

/// Attempts by delivery and number; of the first of each chain, the predecessor is {0, 0}.
class RecordedAttempts : public testing::Test {
 protected:
  RecordedAttempts() {
    auto opened =
        sqlite::Database::open({.file = sqlite::database_file(store_.options().directory)});
    EXPECT_TRUE(opened.has_value());
    database_.emplace(*std::move(opened));
  }

  void add(const AttemptKey& key, const AttemptKey& previous, std::int64_t executed_at) {
    auto statement = database_->prepare(
        "INSERT INTO attempt (delivery, number, previous_delivery, previous_number, id,"
        " executed_at, duration_us, trigger, scheduled_at, detail)"
        " VALUES (?1, ?2, ?3, ?4, x'00', ?5, 1, 0, 0, x'')");
    ASSERT_TRUE(statement.has_value());
    ASSERT_TRUE(
        statement->run(key.delivery, key.number, previous.delivery, previous.number, executed_at));
  }

  std::vector<AttemptKey> order() {
    std::vector<AttemptKey> taken;
    const Result<void> done =
        sqlite::for_each_recorded_attempt(*database_, [&](const AttemptKey& key) -> Result<void> {
          taken.push_back(key);
          return {};
        });
    EXPECT_TRUE(done.has_value());
    return taken;
  }

  OpenSqlite store_;
  std::optional<sqlite::Database> database_;
};

TEST_F(RecordedAttempts, AreInTheOrderOfTheirTimesIfTheChainsAgree) {
  EXPECT_THAT(order(), IsEmpty());
  add({1, 1}, {0, 0}, 100);
  add({3, 1}, {1, 1}, 300);
  add({2, 1}, {0, 0}, 200);
  add({4, 1}, {2, 1}, 300);
  EXPECT_THAT(order(),
              ElementsAre(AttemptKey{1, 1}, AttemptKey{2, 1}, AttemptKey{3, 1}, AttemptKey{4, 1}));
}

TEST_F(RecordedAttempts, WaitForAPredecessorThatBeganLater) {
  add({1, 1}, {2, 1}, 100);  // Slow: recorded after those of deliveries 2 and 3.
  add({2, 1}, {3, 1}, 200);
  add({3, 1}, {0, 0}, 300);
  add({4, 1}, {1, 1}, 150);
  add({5, 1}, {0, 0}, 250);  // Of another chain.
  EXPECT_THAT(order(), ElementsAre(AttemptKey{5, 1}, AttemptKey{3, 1}, AttemptKey{2, 1},
                                   AttemptKey{1, 1}, AttemptKey{4, 1}));
}

TEST_F(RecordedAttempts, DoNotWaitForAPredecessorThatWasRemoved) {
  add({2, 1}, {9, 1}, 100);
  add({3, 1}, {2, 1}, 200);
  EXPECT_THAT(order(), ElementsAre(AttemptKey{2, 1}, AttemptKey{3, 1}));
}

TEST_F(RecordedAttempts, AreAllTakenOnceAlthoughAChainIsDamaged) {
  add({1, 1}, {2, 1}, 100);
  add({2, 1}, {1, 1}, 200);  // A circle.
  add({3, 1}, {4, 1}, 300);
  add({4, 1}, {0, 0}, 400);
  add({5, 1}, {4, 1}, 350);  // A second successor.
  EXPECT_THAT(order(),
              testing::UnorderedElementsAre(AttemptKey{1, 1}, AttemptKey{2, 1}, AttemptKey{3, 1},
                                            AttemptKey{4, 1}, AttemptKey{5, 1}));
}

}  // namespace
}  // namespace postrider::test
