#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/postgres/outbox_status.h"
#include "adapters/postgres/status_test_table.h"

namespace postrider::postgres::test {
namespace {

using enum RowWriteOutcome;
using Outcomes = std::vector<RowWriteOutcome>;

constexpr WallTime some_time = wall_from_unix_ms(1'800'000'000'123);
const RowStatus delivered{.state = RowState::delivered, .attempts = 3, .delivered_at = some_time};
const RowStatus failed{.state = RowState::failed, .attempts = 5, .last_error = "It's \"gone\"\\."};
const RowStatus retrying{.state = RowState::retrying,
                         .attempts = 2,
                         .last_error = "No answer.",
                         .next_attempt_at = some_time};

std::string id(int number) { return fmt::format("00000000-0000-0000-0000-{:012}", number); }

class OutboxStatusSink : public testing::Test {
 protected:
  OutboxStatusSink() {
    const Result<void> connected = sink_->connect();
    EXPECT_TRUE(connected.has_value()) << connected.error().message;
  }

  [[nodiscard]] std::unique_ptr<RowStatusSink> make_sink(const std::string& node,
                                                         const StatusWriterWaits& waits = {}) {
    auto sink = make_outbox_status_sink(
        {.name = "orders", .address = server_address(), .table = table_, .node = node}, waits);
    EXPECT_TRUE(sink->connect().has_value());
    return sink;
  }

  /// A row that was handed over to node-a.
  void add(int number, const std::string& change = "status = status") {
    session_.run(
        fmt::format("INSERT INTO {0} (id, payload, postrider_node, postrider_handed_over_at)"
                    " VALUES ('{1}', '1', 'node-a', now()); UPDATE {0} SET {2} WHERE id = '{1}'",
                    table_, id(number), change));
  }

  Outcomes write(const std::vector<RowWrite>& rows) {
    Result<Outcomes> outcomes = sink_->write(rows);
    EXPECT_TRUE(outcomes.has_value()) << outcomes.error().message;
    return outcomes.value_or(Outcomes{});
  }
  RowWriteOutcome write(const RowStatus& status, std::uint32_t generation = 0) {
    return write(std::vector<RowWrite>{{id(1), generation, status}}).at(0);
  }

  /// status, attempts, last_error, next_attempt_at, delivered_at, under way, generation.
  std::string row(int number = 1) {
    const TextRows rows = session_.run(fmt::format(
        "SELECT concat_ws(' | ', status, attempts, coalesce(last_error, '-'),"
        " coalesce((extract(epoch FROM next_attempt_at) * 1000)::bigint = {}, false),"
        " coalesce((extract(epoch FROM delivered_at) * 1000)::bigint::text, '-'),"
        " postrider_handed_over_at IS NOT NULL, postrider_generation) FROM {} WHERE id = '{}'",
        to_unix_ms(some_time), table_, id(number)));
    return rows.count() == 0 ? "" : std::string{rows.text(0, 0)};
  }

  std::string table_ = make_status_outbox();
  Session session_;
  std::unique_ptr<RowStatusSink> sink_ = make_outbox_status_sink(
      {.name = "orders", .address = server_address(), .table = table_, .node = "node-a"});
};

TEST_F(OutboxStatusSink, EveryTransitionIsWritten) {
  add(1);
  EXPECT_EQ(write(retrying), written);
  EXPECT_EQ(row(), "retrying | 2 | No answer. | t | - | t | 0");
  RowStatus later = retrying;
  later.attempts = 3;
  EXPECT_EQ(write(later), written);
  EXPECT_EQ(row(), "retrying | 3 | No answer. | t | - | t | 0");
  EXPECT_EQ(write(delivered), written);
  EXPECT_EQ(row(), "delivered | 3 | - | t | 1800000000123 | f | 1");
  add(2);
  EXPECT_EQ(write({{id(2), 0, failed}}), Outcomes{written});
  EXPECT_EQ(row(2), "failed | 5 | It's \"gone\"\\. | f | - | f | 1");
}

TEST_F(OutboxStatusSink, ManyRowsAreWrittenInOneStatement) {
  std::vector<RowWrite> rows;
  for (int number = 1; number <= 500; ++number) {
    rows.push_back({id(number), 0, number % 2 == 0 ? delivered : retrying});
  }
  session_.run(fmt::format(
      "INSERT INTO {} (id, payload, postrider_node, postrider_handed_over_at)"
      " SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, '1', 'node-a', now()"
      " FROM generate_series(1, 500) n",
      table_));
  EXPECT_EQ(write(rows), Outcomes(500, written));
  EXPECT_EQ(session_.value("SELECT count(*) FROM " + table_ + " WHERE status = 'delivered'"),
            "250");
}

TEST_F(OutboxStatusSink, TheSameStatusIsNotWrittenTwice) {
  add(1);
  EXPECT_EQ(write(retrying), written);
  const std::string version = session_.value("SELECT ctid FROM " + table_);
  EXPECT_EQ(write(retrying), written);
  EXPECT_EQ(session_.value("SELECT ctid FROM " + table_), version);
}

TEST_F(OutboxStatusSink, AFinalStatusIsWrittenOnce) {
  add(1);
  EXPECT_EQ(write(delivered), written);
  EXPECT_EQ(write(delivered), written);  // The answer to the first was lost.
  EXPECT_EQ(row(), "delivered | 3 | - | f | 1800000000123 | f | 1");
  EXPECT_EQ(write(failed), ahead);  // It was revived and has failed since.
  EXPECT_EQ(write(failed, 1), written);
  EXPECT_EQ(row(), "failed | 5 | It's \"gone\"\\. | f | - | f | 2");
}

TEST_F(OutboxStatusSink, ARevivedRowGoesBackToRetrying) {
  add(1);
  EXPECT_EQ(write(failed), written);
  EXPECT_EQ(write(retrying, 1), written);
  EXPECT_EQ(row(), "retrying | 2 | No answer. | t | - | t | 1");
  EXPECT_EQ(write(delivered, 1), written);
  EXPECT_EQ(row(), "delivered | 3 | - | t | 1800000000123 | f | 2");
}

TEST_F(OutboxStatusSink, ARowThatWasArmedAgainIsLeftAlone) {
  add(1);
  EXPECT_EQ(write(failed), written);
  session_.run("UPDATE " + table_ + " SET status = 'pending'");
  const std::string before = row();
  EXPECT_EQ(write(delivered), superseded);  // Of the generation before.
  EXPECT_EQ(write(retrying, 1), armed);
  EXPECT_EQ(write(delivered, 1), armed);
  EXPECT_EQ(row(), before);
}

TEST_F(OutboxStatusSink, ARowOfAnotherNodeIsLeftAlone) {
  add(1, "postrider_node = 'node-b'");
  const std::string before = row();
  EXPECT_EQ(write(delivered), superseded);
  EXPECT_EQ(row(), before);
}

TEST_F(OutboxStatusSink, AStatusOfTheApplicationIsKept) {
  add(1, "status = 'cancelled', last_error = 'by us'");
  EXPECT_EQ(write(retrying), written);
  EXPECT_EQ(row(), "cancelled | 0 | by us | f | - | t | 0");
  EXPECT_EQ(write(delivered), written);
  EXPECT_EQ(row(), "cancelled | 3 | by us | f | - | f | 1");
}

TEST_F(OutboxStatusSink, ARowUnderWayThatIsSetToPendingGetsTheStatusOfWhatIsUnderWay) {
  add(1, "status = 'retrying'");
  session_.run("UPDATE " + table_ + " SET status = 'pending'");
  EXPECT_EQ(write(delivered), written);
  EXPECT_EQ(row(), "delivered | 3 | - | f | 1800000000123 | f | 1");
}

TEST_F(OutboxStatusSink, ADeletedRowIsMissingAndALockedOneIsLeftForLater) {
  add(2);
  add(3);
  Session other;
  other.run(fmt::format("BEGIN; SELECT 1 FROM {} WHERE id = '{}' FOR UPDATE", table_, id(2)));
  EXPECT_EQ(write({{id(1), 0, delivered}, {id(2), 0, delivered}, {id(3), 0, delivered}}),
            (Outcomes{missing, locked, written}));
  other.run("ROLLBACK");
  EXPECT_EQ(write({{id(2), 0, delivered}}), Outcomes{written});
  EXPECT_EQ(row(1), "");
}

TEST_F(OutboxStatusSink, TheServersOfAStoreWriteOneAfterTheOther) {
  add(1);
  const auto other = make_sink("node-a", {.others_max = Millis{20}});
  const auto stranger = make_sink("node-b");
  ASSERT_TRUE(sink_->begin().has_value());
  const Result<void> begun = other->begin();
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, Errc::conflict);
  EXPECT_TRUE(stranger->begin().has_value());
  EXPECT_EQ(write(delivered), written);
  EXPECT_TRUE(other->begin().has_value());  // On the same connection.
  EXPECT_TRUE(other->end().has_value());
  EXPECT_TRUE(sink_->begin().has_value());
  EXPECT_TRUE(sink_->end().has_value());
}

TEST_F(OutboxStatusSink, AServerThatWasSuspendedKeepsNobodyFromWriting) {
  add(1);
  const auto suspended = make_sink("node-a", {.idle_max = Millis{50}});
  ASSERT_TRUE(suspended->begin().has_value());
  ASSERT_TRUE(sink_->begin().has_value());  // When the other's connection is closed.
  EXPECT_EQ(write(delivered), written);
  const auto outcomes = suspended->write({{id(1), 0, retrying}});
  ASSERT_FALSE(outcomes.has_value());
  EXPECT_EQ(outcomes.error().code, Errc::unavailable);
  EXPECT_EQ(row(), "delivered | 3 | - | f | 1800000000123 | f | 1");
  ASSERT_TRUE(suspended->connect().has_value());
  EXPECT_TRUE(suspended->begin().has_value());
}

TEST_F(OutboxStatusSink, OldDeliveredRowsAreRemovedInSmallSteps) {
  for (int number = 1; number <= 5; ++number) {
    add(number, number == 5 ? "status = 'failed'"
                            : "status = 'delivered', postrider_handed_over_at = NULL,"
                              " delivered_at = now() - interval '1 hour'");
  }
  add(6, "status = 'delivered', postrider_handed_over_at = NULL, delivered_at = now()");
  EXPECT_EQ(sink_->remove_delivered(Millis{7'200'000}, 10), 0u);
  EXPECT_EQ(sink_->remove_delivered(Millis{1'800'000}, 3), 3u);
  EXPECT_EQ(sink_->remove_delivered(Millis{1'800'000}, 3), 1u);
  EXPECT_EQ(session_.value("SELECT count(*) FROM " + table_), "2");
}

TEST_F(OutboxStatusSink, AServerThatIsAwayIsUnavailable) {
  add(1);
  server().command("stop");
  const auto outcomes = sink_->write({{id(1), 0, delivered}});
  ASSERT_FALSE(outcomes.has_value());
  EXPECT_EQ(outcomes.error().code, Errc::unavailable);
  EXPECT_FALSE(sink_->connect().has_value());
  server().command("start");
  ASSERT_TRUE(sink_->connect().has_value());
  EXPECT_EQ(write(delivered), written);
}

}  // namespace
}  // namespace postrider::postgres::test
