#include "adapters/postgres/store/peers/handoff.h"

#include <string>
#include <utility>

namespace postrider::postgres {
namespace {

// One row for all deliveries of a shard.
constexpr std::string_view insert_sql = R"sql(
  INSERT INTO handoff (pool, shard, kind, sequences, delivery_ids, webhook_ids)
  SELECT n.pool, n.shard, n.kind,
         CASE WHEN n.kind = 0 THEN array_agg(n.sequence) END,
         CASE WHEN n.kind = 1 THEN array_agg(n.delivery_id) END,
         CASE WHEN n.kind = 1 THEN array_agg(n.webhook_id) END
    FROM (SELECT unnest($1::text[]) AS pool, unnest($2::smallint[]) AS shard,
                 unnest($3::smallint[]) AS kind, unnest($4::bigint[]) AS sequence,
                 unnest($5::uuid[]) AS delivery_id, unnest($6::uuid[]) AS webhook_id) n
   GROUP BY n.pool, n.shard, n.kind
)sql";

}  // namespace

bool Handoff::add(const Delivery& delivery, const TenantId& tenant_id) {
  return add(delivery, tenant_id, HandoffKind::deliveries);
}

bool Handoff::add_closed(const Delivery& delivery, const TenantId& tenant_id) {
  return add(delivery, tenant_id, HandoffKind::closed);
}

bool Handoff::add(const Delivery& delivery, const TenantId& tenant_id, HandoffKind kind) {
  if (!held_.has_joined()) {
    return false;
  }
  const ShardNumber shard = shard_of(delivery.webhook_id);
  const std::string& pool = held_.pool_of(tenant_id);
  if (pool == held_.pool() && fence_.allows(shard)) {
    return false;
  }
  pools_.add(pool);
  shards_.add(shard);
  kinds_.add(kind);
  sequences_.add(delivery.sequence);
  delivery_ids_.add(delivery.id);
  webhook_ids_.add(delivery.webhook_id);
  return true;
}

void Handoff::add_to(JoinedStatement& joined) && {
  if (empty()) {
    return;
  }
  joined.add(
      "handed_over", insert_sql,
      Parameters::of(std::move(pools_), std::move(shards_), std::move(kinds_),
                     std::move(sequences_), std::move(delivery_ids_), std::move(webhook_ids_)));
}

}  // namespace postrider::postgres
