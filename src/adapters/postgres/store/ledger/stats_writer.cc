#include "adapters/postgres/store/ledger/stats_writer.h"

#include <algorithm>
#include <utility>

#include "core/stored/tally_bytes.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view put_webhooks_sql = R"sql(
  INSERT INTO webhook_stats (span, webhook_id, tenant_id, writer, tally, last_success_at,
                             last_failure_at)
  SELECT unnest($2::bigint[]), unnest($3::uuid[]), unnest($4::text[]), $1::uuid,
         unnest($5::bytea[]), unnest($6::bigint[]), unnest($7::bigint[])
  ON CONFLICT (span, webhook_id, tenant_id, writer)
  DO UPDATE SET tally = excluded.tally, last_success_at = excluded.last_success_at,
                last_failure_at = excluded.last_failure_at
)sql";

constexpr std::string_view put_tenants_sql = R"sql(
  INSERT INTO tenant_stats (span, tenant_id, writer, tally)
  SELECT unnest($2::bigint[]), unnest($3::text[]), $1::uuid, unnest($4::bytea[])
  ON CONFLICT (span, tenant_id, writer) DO UPDATE SET tally = excluded.tally
)sql";

// Enough for all webhooks of a large server in one span. Operations may touch many old spans.
constexpr std::size_t rows_remembered_max = 200'000;

/// Moves the entries of `from` into `to`, in place of those with the same keys.
template <class Map>
void move_entries(Map& from, Map& to) {
  while (!from.empty()) {
    auto entry = from.extract(from.begin());
    if (const auto known = to.find(entry.key()); known != to.end()) {
      known->second = std::move(entry.mapped());
    } else {
      to.insert(std::move(entry));
    }
  }
}

}  // namespace

void StatsWriter::add_to(JoinedStatement& joined, const StatsChanges& changes) {
  const bool is_newer =
      !changes.tenants().empty() && std::prev(changes.tenants().end())->first.span > newest_span_;
  if (is_newer) {
    // Forgets the rows of older spans, so that they take no memory for ever.
    newest_span_ = std::prev(changes.tenants().end())->first.span;
    start_new_rows();
  }
  new_webhooks_.clear();
  new_tenants_.clear();
  add_webhooks(joined, changes.webhooks());
  add_tenants(joined, changes.tenants());
}

void StatsWriter::add_webhooks(JoinedStatement& joined, const WebhookStats& changes) {
  if (changes.empty()) {
    return;
  }
  Array spans{ElementType::int8};
  Array webhook_ids{ElementType::uuid};
  Array tenant_ids{ElementType::text};
  Array tallies{ElementType::bytea};
  Array successes{ElementType::int8};
  Array failures{ElementType::int8};
  for (const auto& [key, change] : changes) {
    WebhookSums& sums = new_webhooks_.emplace_hint(new_webhooks_.end(), key, change)->second;
    if (const auto stored = webhooks_.find(key); stored != webhooks_.end()) {
      sums.add(stored->second);
    }
    spans.add(key.span);
    webhook_ids.add(key.webhook_id);
    tenant_ids.add(key.tenant_id);
    tallies.add(Blob{pack(sums.tally)});
    successes.add(sums.last_success_at);
    failures.add(sums.last_failure_at);
  }
  joined.add(
      "webhook_counts", put_webhooks_sql,
      Parameters::of(writer(), std::move(spans), std::move(webhook_ids), std::move(tenant_ids),
                     std::move(tallies), std::move(successes), std::move(failures)));
}

void StatsWriter::add_tenants(JoinedStatement& joined, const TenantStats& changes) {
  if (changes.empty()) {
    return;
  }
  Array spans{ElementType::int8};
  Array tenant_ids{ElementType::text};
  Array tallies{ElementType::bytea};
  for (const auto& [key, change] : changes) {
    DeliveryTally& tally = new_tenants_.emplace_hint(new_tenants_.end(), key, change)->second;
    if (const auto stored = tenants_.find(key); stored != tenants_.end()) {
      tally.add(stored->second);
    }
    spans.add(key.span);
    tenant_ids.add(key.tenant_id);
    tallies.add(Blob{pack(tally)});
  }
  joined.add("tenant_counts", put_tenants_sql,
             Parameters::of(writer(), std::move(spans), std::move(tenant_ids), std::move(tallies)));
}

void StatsWriter::remember() {
  move_entries(new_webhooks_, webhooks_);
  move_entries(new_tenants_, tenants_);
  if (webhooks_.size() > rows_remembered_max) {
    start_new_rows();
  }
}

void StatsWriter::start_new_rows() {
  ++generation_;
  webhooks_.clear();
  tenants_.clear();
}

/// The base with the generation in its last bytes.
Uuid StatsWriter::writer() const {
  Uuid writer = base_;
  for (std::size_t i = 0; i < sizeof generation_; ++i) {
    writer[writer.size() - 1 - i] ^= static_cast<std::uint8_t>(generation_ >> (8 * i));
  }
  return writer;
}

std::string_view StatsWriter::pack(const DeliveryTally& tally) {
  packed_.clear();
  stored::pack_tally(tally, packed_);
  return packed_;
}

}  // namespace postrider::postgres
