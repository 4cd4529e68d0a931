#include "adapters/postgres/store/database/writer.h"

#include <thread>

#include <gtest/gtest.h>

#include "adapters/postgres/store/database/reader.h"
#include "adapters/postgres/store/database/writer_fixture.h"

namespace postrider::postgres {
namespace {

using test::open_writer;
using test::read_number;
using test::set_number;

class WriterTest : public test::WriterFixture {};

TEST_F(WriterTest, ATransactionIsVisibleWhenItEnds) {
  EXPECT_TRUE(writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(set(1, 10));
    EXPECT_EQ(value(1), 0);
    writer_->session().queue("UPDATE number SET value = 20 WHERE n = 2");  // Sent with COMMIT.
    return {};
  }));
  EXPECT_EQ(value(1), 10);
  EXPECT_EQ(value(2), 20);
}

TEST_F(WriterTest, AFailedTransactionChangesNothing) {
  const Result<void> failed = writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(set(1, 10));
    return fail(Errc::not_found, "No.");
  });
  EXPECT_EQ(failed.error().code, Errc::not_found);
  EXPECT_EQ(value(1), 0);
  EXPECT_TRUE(writer_->transact([this] { return set(1, 11); }));
  EXPECT_EQ(value(1), 11);
}

TEST_F(WriterTest, AnErrorThatIsIgnoredFailsTheTransaction) {
  const Result<void> failed = writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(set(1, 10));
    EXPECT_FALSE(writer_->session().run("SELECT 1/0").has_value());
    return {};
  });
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_EQ(value(1), 0);
  EXPECT_TRUE(writer_->usable());
}

TEST_F(WriterTest, ANestedTransactionJoins) {
  const Result<void> failed = writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(writer_->transact([this]() -> Result<void> {
      writer_->session().queue("UPDATE number SET value = 10 WHERE n = 1");
      POSTRIDER_CHECK(writer_->exchange_and_commit());
      return {};
    }));
    return fail(Errc::not_found, "No.");
  });
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(value(1), 0);
}

TEST_F(WriterTest, StatementsAndCommitGoInOneExchange) {
  const Result<void> done = writer_->transact([this]() -> Result<void> {
    const std::size_t index =
        writer_->session().queue("UPDATE number SET value = 10 WHERE n = 1 RETURNING value");
    POSTRIDER_TRY(const std::vector<Rows> rows, writer_->exchange_and_commit());
    EXPECT_EQ(rows[index].integer(0, 0), 10);
    EXPECT_EQ(value(1), 10);
    return {};
  });
  EXPECT_TRUE(done.has_value());
}

TEST_F(WriterTest, AnEmptyTransactionSendsNothing) {
  end_sessions();
  EXPECT_TRUE(writer_->transact([]() -> Result<void> { return {}; }));
  EXPECT_TRUE(writer_->usable());
}

TEST_F(WriterTest, ALostConnectionBreaksTheWriterUntilItIsReopened) {
  const Result<void> lost = writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(set(1, 10));
    end_sessions();
    return set(2, 10);
  });
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_EQ(writer_->usable().error().code, Errc::unavailable);
  EXPECT_EQ(writer_->transact([this] { return set(1, 11); }).error().code, Errc::unavailable);
  ASSERT_TRUE(writer_->reopen().has_value());
  EXPECT_EQ(writer_->lost_commit_was_stored(), std::nullopt);
  EXPECT_EQ(value(1), 0);
  EXPECT_TRUE(writer_->transact([this] { return set(1, 11); }));
  EXPECT_EQ(value(1), 11);
}

TEST_F(WriterTest, ADeadlockIsRepeated) {
  std::unique_ptr<Writer> other = open_writer({.connect = {.address = schema_.address()}});
  std::atomic<int> holding = 0;
  std::atomic<int> tries = 0;
  const auto update_both = [&](Writer& writer, int first) {
    return writer.transact_repeatedly([&, first]() -> Result<void> {
      ++tries;
      POSTRIDER_CHECK(set_number(writer, first, first));
      ++holding;
      while (holding < 2) {
        std::this_thread::yield();
      }
      return set_number(writer, 3 - first, first);
    });
  };
  Result<void> second;
  std::jthread thread{[&] { second = update_both(*other, 2); }};
  const Result<void> first = update_both(*writer_, 1);
  thread.join();
  EXPECT_TRUE(first.has_value()) << first.error().message;
  EXPECT_TRUE(second.has_value()) << second.error().message;
  EXPECT_GE(tries, 3);  // More if they collide again.
  EXPECT_EQ(value(1), value(2));
}

TEST_F(WriterTest, ADeadlockThatIsNotRepeatedIsUnavailable) {
  const Result<void> failed = writer_->transact([this]() -> Result<void> {
    POSTRIDER_CHECK(writer_->session().run_once("DO $$ BEGIN RAISE deadlock_detected; END $$"));
    return {};
  });
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_TRUE(writer_->usable());
}

TEST_F(WriterTest, TransactionsThatAppendToTheAuditLogFollowEachOther) {
  std::unique_ptr<Writer> other = open_writer({.connect = {.address = schema_.address()}});
  std::atomic<bool> ended = false;
  std::jthread thread;
  EXPECT_TRUE(writer_->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(writer_->lock_audit_chain());
    thread = std::jthread{[&] {
      EXPECT_TRUE(other->transact([&]() -> Result<void> {
        POSTRIDER_CHECK(other->lock_audit_chain());
        EXPECT_TRUE(ended);
        return {};
      }));
    }};
    // Until the other one waits.
    std::int64_t waiting = 0;
    while (waiting == 0) {
      POSTRIDER_TRY(const Rows rows,
                    writer_->session().run("SELECT count(*) FROM pg_locks WHERE NOT granted"));
      waiting = rows.integer(0, 0);
    }
    ended = true;
    return {};
  }));
}

class ReadConnectionTest : public WriterTest {
 protected:
  std::int64_t read(int n) {
    const Result<std::int64_t> found =
        reader_->read([n](Session& session) { return read_number(session, n); });
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(-1);
  }

  std::shared_ptr<ReadConnection> reader_ =
      *ReadConnection::open({.connect = {.address = schema_.address()}});
};

TEST_F(ReadConnectionTest, ACallSeesOneState) {
  EXPECT_TRUE(reader_->read([this](Session&) -> Result<void> {
    EXPECT_EQ(read(1), 0);
    EXPECT_TRUE(writer_->transact([this] { return set(1, 10); }));
    EXPECT_EQ(read(1), 0);
    return {};
  }));
  EXPECT_EQ(read(1), 10);
}

TEST_F(ReadConnectionTest, ALostConnectionIsReplaced) {
  EXPECT_EQ(read(1), 0);
  end_sessions();
  EXPECT_EQ(read(1), 0);
}

TEST_F(ReadConnectionTest, NothingCanBeChanged) {
  const Result<void> failed = reader_->read([](Session& session) -> Result<void> {
    POSTRIDER_CHECK(session.run("UPDATE number SET value = 1"));
    return {};
  });
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_EQ(read(1), 0);
}

}  // namespace
}  // namespace postrider::postgres
