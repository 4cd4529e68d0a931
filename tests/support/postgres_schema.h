// A schema of its own in the PostgreSQL server of this test program, which is started once.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "adapters/postgres/connection.h"

#include "tests/support/server_process.h"

namespace postrider::test {

inline ServerProcess& postgres_server() {
  static ServerProcess process{"postgres"};
  return process;
}

/// The address of the superuser, or of `user`, through the server's socket, where no password is
/// asked for.
inline std::string local_postgres_address(const std::string& user = "postgres",
                                          const std::string& database = "app") {
  const std::string address = postgres_server().member("admin_address");
  return address.substr(0, address.find("user=")) + "user=" + user + " dbname=" + database;
}

/// Runs one or more statements as the superuser. Fails the test on an error. Any thread.
inline void run_as_admin(const std::string& sql) {
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  static const postgres::Interruption interruption;
  static std::optional<postgres::Connection> admin;  // Kept, because a connection takes longer.
  for (const bool is_last_try : {false, true}) {
    if (!admin || !admin->is_open()) {
      Result<postgres::Connection> opened =
          postgres::Connection::open({.address = Secret{local_postgres_address()}}, interruption);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      admin = *std::move(opened);
    }
    Result<postgres::TextRows> done = admin->script("RESET search_path");
    if (done) {
      done = admin->script(sql);
    }
    if (done) {
      return;
    }
    // The server may have been restarted since the last call.
    ASSERT_TRUE(!is_last_try && !admin->is_open()) << sql << ": " << done.error().message;
  }
}

/// An empty schema.
class PostgresSchema {
 public:
  PostgresSchema() {
    static int number = 0;
    name_ = "test_" + std::to_string(++number);
    run_as_admin("CREATE SCHEMA " + name_ + " AUTHORIZATION app");
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The address of a session in the schema.
  [[nodiscard]] Secret<std::string> address() const {
    return Secret{local_postgres_address("app") + " options='-c search_path=" + name_ + "'"};
  }
  /// The same through a proxy at the port.
  [[nodiscard]] Secret<std::string> address(const std::string& port) const {
    std::string address = postgres_server().member("address");
    const std::size_t at = address.rfind(':') + 1;
    address.replace(at, address.rfind('/') - at, port);
    return Secret{address + "?options=-csearch_path%3D" + name_};
  }

 private:
  std::string name_;
};

}  // namespace postrider::test
