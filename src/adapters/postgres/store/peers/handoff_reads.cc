#include "adapters/postgres/store/peers/handoff_reads.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/postgres/store/ledger/rows.h"
#include "adapters/postgres/store/peers/handoff.h"

namespace postrider::postgres {
namespace {

// These numbers are stored in the database and must never change.
static_assert(static_cast<int>(CircuitAction::reset) == 0 &&
              static_cast<int>(CircuitAction::force_open) == 1 &&
              static_cast<int>(CircuitAction::force_close) == 2);

// Rows of the shards that this node holds in the same snapshot, so that a later holder finds what
// such a row names in its backlog. $4: no further row is taken after this many deliveries. A closed
// delivery that waits again was revived; another row contains it. Usually there is no row, and the
// leases are not read.
constexpr std::string_view read_sql = R"sql(
  WITH held AS MATERIALIZED (
         SELECT k.shard::smallint AS shard
           FROM (SELECT unnest($2::bigint[]) AS shard, unnest($3::bigint[]) AS epoch) k
          CROSS JOIN LATERAL (SELECT 1 FROM shard_lease l
                               WHERE l.pool = $1 AND l.shard = k.shard AND l.epoch = k.epoch
                                 AND l.owner IS NOT NULL LIMIT 1) valid
          WHERE EXISTS (SELECT 1 FROM handoff WHERE pool = $1)),
       found AS MATERIALIZED (
         SELECT r.* FROM held
          CROSS JOIN LATERAL (SELECT * FROM handoff h WHERE h.pool = $1 AND h.shard = held.shard
                               ORDER BY h.id LIMIT $4) r
          LIMIT $4),
       counted AS (
         SELECT f.*, sum(coalesce(cardinality(sequences), cardinality(webhook_ids)))
                       OVER (ORDER BY shard, id
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
           FROM found f)
  SELECT )sql" POSTRIDER_DELIVERY_COLUMNS R"sql(
         , c.shard, c.id, c.kind, c.action, c.duration_ms, n.webhook_id, n.delivery_id,
         c.kind = 1 AND EXISTS (SELECT 1 FROM waiting w WHERE w.id = n.delivery_id)
    FROM counted c
   CROSS JOIN LATERAL unnest(c.sequences, c.delivery_ids, c.webhook_ids)
                      AS n (sequence, delivery_id, webhook_id)
    LEFT JOIN waiting d ON d.sequence = n.sequence
   WHERE coalesce(c.before, 0) < $4
   ORDER BY c.shard, c.id
)sql";
enum Column {
  shard = delivery_column_count,
  id,
  kind,
  action,
  duration_ms,
  webhook_id,
  delivery_id,
  waits_again
};

constexpr std::string_view remove_sql = R"sql(
  DELETE FROM handoff h
   USING (SELECT unnest($2::smallint[]) AS shard, unnest($3::bigint[]) AS id) k
   WHERE h.pool = $1 AND h.shard = k.shard AND h.id = k.id
)sql";

// Rows that are visible under a lease that is valid in the same snapshot: a later holder reads its
// backlog after it. Closed deliveries (kind 1) are in no lane yet.
constexpr std::string_view forget_sql = R"sql(
  WITH held AS MATERIALIZED (
         SELECT k.shard::smallint AS shard
           FROM (SELECT unnest($2::bigint[]) AS shard, unnest($3::bigint[]) AS epoch) k
          CROSS JOIN LATERAL (SELECT 1 FROM shard_lease l
                               WHERE l.pool = $1 AND l.shard = k.shard AND l.epoch = k.epoch
                                 AND l.owner IS NOT NULL LIMIT 1) valid),
       old AS MATERIALIZED (
         SELECT r.* FROM held
          CROSS JOIN LATERAL (SELECT h.shard, h.id FROM handoff h
                               WHERE h.pool = $1 AND h.shard = held.shard AND h.kind < 2
                               ORDER BY h.id LIMIT $4) r
          LIMIT $4),
       gone AS (
         DELETE FROM handoff h USING old
          WHERE h.pool = $1 AND h.shard = old.shard AND h.id = old.id)
  SELECT count(*) FROM old
)sql";

// A removed row that comes back after a crash of the database is taken again, which is harmless.
constexpr std::string_view do_not_wait_for_disk_sql =
    "SELECT set_config('synchronous_commit', 'off', true)";

constexpr std::string_view tenant_sql = "SELECT tenant_id FROM webhook WHERE id = $1";

constexpr std::string_view command_sql =
    "INSERT INTO handoff (pool, shard, kind, webhook_ids, action, duration_ms)"
    " VALUES ($1, $2::bigint, $3::bigint, ARRAY[$4::uuid], $5::bigint, $6)";

constexpr std::string_view remove_old_sql = R"sql(
  DELETE FROM handoff WHERE (pool, shard, id) IN
    (SELECT h.pool, h.shard, h.id FROM handoff h
      WHERE h.stored_at < now() - interval '6 hours'
        AND NOT EXISTS (SELECT 1 FROM shard_lease l
                         WHERE l.pool = h.pool AND l.shard = h.shard AND l.owner IS NOT NULL
                           AND l.expires_at > (SELECT steady FROM lease_clock))
      LIMIT 10000 FOR UPDATE OF h SKIP LOCKED)
)sql";

struct NumberedCommand {
  std::int64_t number = 0;
  CircuitCommanded command;
};

CircuitCommanded read_command(const Rows& rows, int row) {
  CircuitCommanded command{.webhook_id = rows.id<WebhookId>(row, webhook_id),
                           .action = rows.as<CircuitAction>(row, action),
                           .duration = std::nullopt};
  if (!rows.is_null(row, duration_ms)) {
    command.duration = Millis{rows.integer(row, duration_ms)};
  }
  return command;
}

HandedOver read_handed_over(const Rows& rows) {
  HandedOver handed;
  std::vector<NumberedCommand> commands;
  for (int row = 0; row < rows.count(); ++row) {
    switch (rows.as<HandoffKind>(row, kind)) {
      case HandoffKind::deliveries:
        if (!rows.is_null(row, 0)) {  // Otherwise final: its lane learns it by other means.
          handed.deliveries.push_back(read_delivery(rows, row));
        }
        break;
      case HandoffKind::closed:
        if (!rows.boolean(row, waits_again)) {
          handed.closed.push_back({.webhook_id = rows.id<WebhookId>(row, webhook_id),
                                   .delivery_id = rows.id<DeliveryId>(row, delivery_id)});
        }
        break;
      case HandoffKind::command:
        commands.push_back({rows.integer(row, id), read_command(rows, row)});
        break;
    }
  }
  std::ranges::sort(handed.deliveries, {}, &Delivery::sequence);
  const auto twice = std::ranges::unique(handed.deliveries, {}, &Delivery::sequence);
  handed.deliveries.erase(twice.begin(), twice.end());
  std::ranges::sort(commands, {}, &NumberedCommand::number);
  for (NumberedCommand& each : commands) {
    handed.commands.push_back(std::move(each.command));
  }
  return handed;
}

/// Returns the number of rows of the table that were taken. If removing them fails, the next call
/// returns them again.
std::size_t remove_taken(Session& session, const std::string& pool, const Rows& rows) {
  Array shards{ElementType::int2};
  Array ids{ElementType::int8};
  std::optional<std::int64_t> last;
  for (int row = 0; row < rows.count(); ++row) {
    const std::int64_t number = rows.integer(row, id);
    if (last != number) {
      shards.add(rows.integer(row, shard));
      ids.add(number);
      last = number;
    }
  }
  const std::size_t count = ids.size();
  if (count > 0) {
    session.queue(do_not_wait_for_disk_sql);
    session.queue(remove_sql, Parameters::of(pool, std::move(shards), std::move(ids)));
    [[maybe_unused]] const Result<std::vector<Rows>> removed = session.exchange();
  }
  return count;
}

}  // namespace

Result<HandedOver> receive_handed_over(Session& session, const HeldShards& held,
                                       std::size_t limit) {
  if (!held.has_joined() || held.epochs().empty()) {
    return HandedOver{};
  }
  Array shards{ElementType::int8};
  Array epochs{ElementType::int8};
  for (const auto& [number, epoch] : held.epochs()) {
    shards.add(number);
    epochs.add(epoch);
  }
  POSTRIDER_TRY(const Rows rows,
                session.run(read_sql, Parameters::of(held.pool(), std::move(shards),
                                                     std::move(epochs), limit)));
  HandedOver handed = read_handed_over(rows);
  handed.taken = remove_taken(session, held.pool(), rows);
  handed.more = static_cast<std::size_t>(rows.count()) >= limit;
  return handed;
}

Result<bool> forget_handed_over(Session& session, const std::string& pool,
                                const std::vector<ShardEpoch>& leases, std::size_t limit) {
  Array shards{ElementType::int8};
  Array epochs{ElementType::int8};
  for (const ShardEpoch& lease : leases) {
    shards.add(lease.shard);
    epochs.add(lease.epoch);
  }
  session.queue(do_not_wait_for_disk_sql);
  session.queue(forget_sql, Parameters::of(pool, std::move(shards), std::move(epochs), limit));
  POSTRIDER_TRY(const std::vector<Rows> rows, session.exchange());
  return rows.back().integer(0, 0) >= static_cast<std::int64_t>(limit);
}

Result<void> hand_over(Session& session, const HeldShards& held, const CircuitCommanded& command) {
  POSTRIDER_TRY(const Rows tenant, session.run(tenant_sql, Parameters::of(command.webhook_id)));
  if (tenant.count() == 0) {
    return fail(Errc::not_found, "There is no such webhook.");
  }
  session.queue(command_sql, Parameters::of(held.pool_of(tenant.text(0, 0)),
                                            shard_of(command.webhook_id), HandoffKind::command,
                                            command.webhook_id, command.action, command.duration));
  return {};
}

Result<void> remove_old_handoffs(Session& session) {
  POSTRIDER_CHECK(session.run(remove_old_sql));
  return {};
}

}  // namespace postrider::postgres
