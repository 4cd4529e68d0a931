// A table of two numbers, and what its tests need to change and read it.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "adapters/postgres/store/database/writer.h"

#include "tests/support/postgres_schema.h"

namespace postrider::postgres::test {

/// A writer. Fails the test on an error.
inline std::unique_ptr<Writer> open_writer(const PostgresOptions& options) {
  Result<std::unique_ptr<Writer>> opened = Writer::open(options);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return *std::move(opened);
}

inline Result<void> set_number(Writer& writer, int n, int value) {
  POSTRIDER_CHECK(
      writer.session().run("UPDATE number SET value = $2 WHERE n = $1", Parameters::of(n, value)));
  return {};
}

inline Result<std::int64_t> read_number(Session& session, int n) {
  POSTRIDER_TRY(const Rows rows,
                session.run("SELECT value FROM number WHERE n = $1", Parameters::of(n)));
  return rows.integer(0, 0);
}

class WriterFixture : public testing::Test {
 protected:
  explicit WriterFixture() : writer_(open_writer({.connect = {.address = schema_.address()}})) {
    add_table(*writer_);
  }

  /// With the rows 1 and 2.
  static void add_table(Writer& writer) {
    const Result<void> done = writer.transact([&writer]() -> Result<void> {
      writer.session().queue("CREATE TABLE number (n bigint PRIMARY KEY, value bigint)");
      POSTRIDER_CHECK(writer.session().run_once("INSERT INTO number VALUES (1, 0), (2, 0)"));
      return {};
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }

  Result<void> set(int n, int value) { return set_number(*writer_, n, value); }

  /// As another session sees it.
  std::int64_t value(int n) {
    Result<Session> session = Session::open({.address = schema_.address()}, interruption_);
    EXPECT_TRUE(session.has_value()) << session.error().message;
    const Result<std::int64_t> found = read_number(*session, n);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(-1);
  }

  static void end_sessions() {
    postrider::test::run_as_admin(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
  }

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace postrider::postgres::test
