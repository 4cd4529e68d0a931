#include "adapters/postgres/store/leases/postgres_leases.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "adapters/postgres/store/leases/lease_sql.h"
#include "adapters/postgres/waiting.h"

namespace postrider {
namespace {

using postgres::Connection;
using postgres::Interruption;
using postgres::TextRows;

class PostgresLeases final : public Leases {
 public:
  PostgresLeases(postgres::ConnectOptions connect, NodeIdentity identity,
                 std::shared_ptr<const Interruption> interruption)
      : options_(std::move(connect)),
        identity_(std::move(identity)),
        interruption_(interruption != nullptr ? std::move(interruption)
                                              : std::make_shared<const Interruption>()) {}

  Result<ClusterView> take_turn(const LeaseTurn& turn) override {
    // Connecting and the statement together take a third of a lease at most.
    const Millis call_max = turn.length / 6;
    options_.connect_max = std::min(options_.connect_max, call_max);
    options_.statement_max = std::min(options_.statement_max, call_max);
    POSTRIDER_TRY(const TextRows rows, run(postgres::turn_sql(identity_, turn)));
    return postgres::read_view(rows);
  }

  Result<void> leave() override {
    POSTRIDER_CHECK(run(postgres::leave_sql(identity_.id)));
    return {};
  }

 private:
  /// Every failure is temporary for a node: it works nothing until a turn succeeds.
  Result<TextRows> run(const std::string& sql) {
    Result<TextRows> rows = connect_and_run(sql);
    if (!rows) {
      connection_.reset();
      return fail(Errc::unavailable, std::move(rows).error().message);
    }
    return rows;
  }

  Result<TextRows> connect_and_run(const std::string& sql) {
    if (!connection_) {
      POSTRIDER_TRY(connection_, Connection::open(options_, *interruption_));
    }
    return connection_->script(sql);
  }

  postgres::ConnectOptions options_;
  NodeIdentity identity_;
  std::shared_ptr<const Interruption> interruption_;
  std::optional<Connection> connection_;  // After `interruption_`, which it refers to.
};

}  // namespace

std::unique_ptr<Leases> make_postgres_leases(postgres::ConnectOptions connect,
                                             NodeIdentity identity,
                                             std::shared_ptr<const Interruption> interruption) {
  return std::make_unique<PostgresLeases>(std::move(connect), std::move(identity),
                                          std::move(interruption));
}

}  // namespace postrider
