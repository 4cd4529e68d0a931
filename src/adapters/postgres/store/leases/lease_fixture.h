// Tables of leases in a schema of their own. For tests only.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/database/migrations.h"
#include "adapters/postgres/store/leases/postgres_leases.h"

#include "tests/support/postgres_schema.h"

namespace postrider::postgres::test {

class LeaseTables {
 public:
  /// Tests share a schema, one after the other.
  LeaseTables() : schema_(migrated()) {
    run("DELETE FROM lease_clock; DELETE FROM node; DELETE FROM shard_lease");
  }

  [[nodiscard]] const postrider::test::PostgresSchema& schema() const { return schema_; }
  [[nodiscard]] ConnectOptions connect() const { return {.address = schema_.address()}; }

  /// As the superuser.
  void run(const std::string& sql) const {
    postrider::test::run_as_admin(fmt::format("SET search_path = {}; {}", schema_.name(), sql));
  }
  void pass(Millis time) const {
    run(fmt::format("UPDATE lease_clock SET steady = steady + {}", time.count()));
  }
  /// Moves the wall clock of the server by `by`.
  void jump(Millis by) const {
    run(fmt::format("UPDATE lease_clock SET wall = wall - {}", by.count()));
  }

  [[nodiscard]] static NodeIdentity identity(int number) {
    return {.id = NodeId{{static_cast<std::uint8_t>(number)}}, .pool = "", .address = "node"};
  }
  [[nodiscard]] std::unique_ptr<Leases> join(int number) const {
    return make_postgres_leases(connect(), identity(number));
  }

 private:
  static const postrider::test::PostgresSchema& migrated() {
    static const postrider::test::PostgresSchema schema = [] {
      postrider::test::PostgresSchema made;
      const Interruption interruption;
      Result<Session> session = Session::open({.address = made.address()}, interruption);
      EXPECT_TRUE(session.has_value()) << session.error().message;
      const Result<Uuid> done = migrate(*session);
      EXPECT_TRUE(done.has_value()) << done.error().message;
      return made;
    }();
    return schema;
  }

  const postrider::test::PostgresSchema& schema_;
};

class LeaseTest : public testing::Test {
 protected:
  static constexpr Millis length = std::chrono::hours{1};

  /// Fails the test on an error.
  ClusterView turn(Leases& leases, LeaseTurn turn = {}) {
    turn.length = length;
    Result<ClusterView> view = leases.take_turn(turn);
    EXPECT_TRUE(view.has_value()) << view.error().message;
    return view ? *std::move(view)
                : ClusterView{.nodes = {}, .leases = std::vector<Lease>(shard_count)};
  }
  [[nodiscard]] static Lease held(int number, Epoch epoch) {
    return {.owner = LeaseTables::identity(number).id, .epoch = epoch};
  }

  LeaseTables tables_;
  std::unique_ptr<Leases> first_ = tables_.join(1);
  std::unique_ptr<Leases> second_ = tables_.join(2);
};

}  // namespace postrider::postgres::test
