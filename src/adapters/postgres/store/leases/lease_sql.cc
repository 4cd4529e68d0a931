#include "adapters/postgres/store/leases/lease_sql.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "adapters/postgres/store/database/escaped_text.h"

namespace postrider::postgres {
namespace {

// The clock of the database's server may jump, or another server takes over. A step counts as
// `step_max` at most, the longest time between two turns, so that a lease ends early by no more
// than its owner expects (lease_margin). A turn that is kept waiting fails while its node still
// waits for it.
constexpr std::string_view begin_sql = R"sql(
SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
SET LOCAL lock_timeout = {wait_ms};
SET LOCAL statement_timeout = {wait_ms};
SET LOCAL jit = off;
INSERT INTO lease_clock AS clock (id, steady, wall)
VALUES (1, 0, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
ON CONFLICT (id) DO UPDATE SET (steady, wall) = (
  SELECT clock.steady + least(greatest(server.wall - clock.wall, 0), {step_max}), server.wall
  FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS wall) AS server);
)sql";

constexpr std::string_view node_sql = R"sql(
DELETE FROM node WHERE expires_at <= (SELECT steady FROM lease_clock);
INSERT INTO node (id, pool, address, leaving, turns, joined_at, expires_at)
SELECT {node}, {pool}, {address}, {leaving}, 1, steady, steady + {length} FROM lease_clock
ON CONFLICT (id) DO UPDATE
SET leaving = excluded.leaving, turns = node.turns + 1, expires_at = excluded.expires_at;
INSERT INTO shard_lease (pool, shard)
SELECT {pool}, generate_series(0, {shard_count} - 1)
WHERE NOT EXISTS (SELECT FROM shard_lease WHERE pool = {pool});
)sql";

constexpr std::string_view release_sql = R"sql(
UPDATE shard_lease AS lease SET owner = NULL
FROM unnest('{{{shards}}}'::bigint[], '{{{epochs}}}'::bigint[]) AS released (shard, epoch)
WHERE lease.pool = {pool} AND lease.shard = released.shard AND lease.epoch = released.epoch
 AND lease.owner = {node};
)sql";

constexpr std::string_view renew_sql = R"sql(
UPDATE shard_lease SET expires_at = (SELECT steady FROM lease_clock) + {length}
WHERE pool = {pool} AND owner = {node} AND expires_at > (SELECT steady FROM lease_clock);
)sql";

// SKIP LOCKED: a turn must not wait for a transaction that holds a LeaseFence.
constexpr std::string_view take_sql = R"sql(
WITH taken AS MATERIALIZED (
  SELECT shard FROM shard_lease
  WHERE pool = {pool} AND shard = ANY ('{{{shards}}}'::bigint[])
   AND (owner IS NULL OR expires_at <= (SELECT steady FROM lease_clock))
  ORDER BY shard FOR UPDATE SKIP LOCKED)
UPDATE shard_lease AS lease
SET owner = {node}, epoch = lease.epoch + 1,
 expires_at = (SELECT steady FROM lease_clock) + {length}
FROM taken WHERE lease.pool = {pool} AND lease.shard = taken.shard;
)sql";

constexpr std::string_view view_sql = R"sql(
SELECT 'node' AS kind, 0 AS shard, encode(uuid_send(id), 'hex') AS id, leaving AS flag,
 turns AS number, (SELECT steady FROM lease_clock) - joined_at AS age,
 expires_at - (SELECT steady FROM lease_clock) AS remaining, pool, address
FROM node
UNION ALL
SELECT 'shard', shard, encode(uuid_send(owner), 'hex'),
 owner IS NOT NULL AND expires_at <= (SELECT steady FROM lease_clock), epoch, 0, 0, '', ''
FROM shard_lease WHERE pool = {pool}
ORDER BY kind, shard, id
)sql";
enum Column { kind, shard, id, flag, number, age, remaining, pool, address };

/// The id in the text format of a uuid.
std::string literal_of(NodeId id) {
  std::string digits;
  for (const std::uint8_t byte : id.bytes) {
    digits += fmt::format("{:02x}", byte);
  }
  return fmt::format("'{}'::uuid", digits);
}

std::optional<NodeId> id_of(std::string_view digits) {
  NodeId found;
  if (digits.size() != 2 * found.bytes.size()) {
    return std::nullopt;
  }
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  for (std::size_t i = 0; i < found.bytes.size(); ++i) {
    found.bytes[i] =
        static_cast<std::uint8_t>(value(digits[2 * i]) * 16 + value(digits[2 * i + 1]));
  }
  return found;
}

std::string literal_of(std::string_view text) { return Connection::literal(escape_text(text)); }

}  // namespace

std::string turn_sql(const NodeIdentity& identity, const LeaseTurn& turn) {
  const std::string node_id = literal_of(identity.id);
  const std::string pool_name = literal_of(identity.pool);
  std::string sql = fmt::format(begin_sql, fmt::arg("wait_ms", turn.length.count() / 6),
                                fmt::arg("step_max", turn_interval(turn.length).count()));
  sql += fmt::format(node_sql, fmt::arg("node", node_id), fmt::arg("pool", pool_name),
                     fmt::arg("address", literal_of(identity.address)),
                     fmt::arg("leaving", turn.leaving), fmt::arg("length", turn.length.count()),
                     fmt::arg("shard_count", shard_count));
  if (!turn.release.empty()) {
    std::vector<ShardNumber> shards;
    std::vector<Epoch> epochs;
    for (const ShardEpoch& released : turn.release) {
      shards.push_back(released.shard);
      epochs.push_back(released.epoch);
    }
    sql += fmt::format(release_sql, fmt::arg("shards", fmt::join(shards, ",")),
                       fmt::arg("epochs", fmt::join(epochs, ",")), fmt::arg("pool", pool_name),
                       fmt::arg("node", node_id));
  }
  sql += fmt::format(renew_sql, fmt::arg("length", turn.length.count()),
                     fmt::arg("pool", pool_name), fmt::arg("node", node_id));
  if (!turn.take.empty()) {
    sql += fmt::format(take_sql, fmt::arg("shards", fmt::join(turn.take, ",")),
                       fmt::arg("pool", pool_name), fmt::arg("node", node_id),
                       fmt::arg("length", turn.length.count()));
  }
  return sql + fmt::format(view_sql, fmt::arg("pool", pool_name));
}

std::string leave_sql(NodeId id) {
  return fmt::format(
      "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;"
      " SELECT FROM lease_clock FOR UPDATE;"
      " UPDATE shard_lease SET owner = NULL WHERE owner = {0}; DELETE FROM node WHERE id = {0}",
      literal_of(id));
}

Result<ClusterView> read_view(const TextRows& rows) {
  ClusterView view;
  view.leases.reserve(shard_count);
  for (int row = 0; row < rows.count(); ++row) {
    const std::optional<NodeId> found = id_of(rows.text(row, id));
    if (rows.text(row, kind) == "shard") {
      view.leases.push_back(
          {.owner = found, .epoch = rows.integer(row, number), .expired = rows.boolean(row, flag)});
    } else if (found) {
      view.nodes.push_back({.identity = {.id = *found,
                                         .pool = unescape_text(rows.text(row, pool)),
                                         .address = unescape_text(rows.text(row, address))},
                            .leaving = rows.boolean(row, flag),
                            .turns = static_cast<std::uint64_t>(rows.integer(row, number)),
                            .age = Millis{rows.integer(row, age)},
                            .left = Millis{rows.integer(row, remaining)}});
    }
  }
  if (view.leases.size() != shard_count) {
    return fail(Errc::unavailable,
                fmt::format("The table shard_lease has {} shards of the pool instead of {}.",
                            view.leases.size(), shard_count));
  }
  return view;
}

}  // namespace postrider::postgres
