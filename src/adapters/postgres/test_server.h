// The PostgreSQL server of this test program, and an outbox in it. For tests only.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/outbox_ddl.h"

#include "tests/support/server_process.h"

namespace postrider::postgres::test {

/// Started once per program.
inline postrider::test::ServerProcess& server() {
  static postrider::test::ServerProcess process{"postgres"};
  return process;
}

inline Secret<std::string> server_address() { return Secret{server().member("address")}; }

/// A session of the application.
class Session {
 public:
  Session() {
    Result<Connection> opened = Connection::open({.address = server_address()}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    connection_ = *std::move(opened);
  }

  /// One or more statements. Fails the test on an error.
  TextRows run(const std::string& sql) {
    Result<TextRows> rows = connection_->script(sql);
    EXPECT_TRUE(rows.has_value()) << sql << ": " << rows.error().message;
    return rows ? *std::move(rows) : TextRows{};
  }

  std::string value(const std::string& sql) {
    const TextRows rows = run(sql);
    return rows.count() > 0 ? std::string{rows.text(0, 0)} : std::string{};
  }

  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  Interruption interruption_;
  std::optional<Connection> connection_;
};

/// Makes an outbox whose name no other test uses.
inline std::string make_outbox(OutboxColumns columns = OutboxColumns::native) {
  static int number = 0;
  const std::string table = "outbox_" + std::to_string(++number);
  const Result<std::string> ddl = outbox_cursor_ddl({.table = table, .columns = columns});
  EXPECT_TRUE(ddl.has_value());
  const Result<void> applied = apply_outbox_ddl(server_address(), *ddl);
  EXPECT_TRUE(applied.has_value()) << applied.error().message;
  return table;
}

}  // namespace postrider::postgres::test
