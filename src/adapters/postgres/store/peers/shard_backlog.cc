#include "adapters/postgres/store/peers/shard_backlog.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "adapters/postgres/store/ledger/lanes.h"
#include "adapters/postgres/store/peers/catalog_reads.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view webhooks_sql = "SELECT id, tenant_id FROM webhook";

}  // namespace

Result<std::vector<LaneBacklog>> ShardBacklog::read(Session& session, const HeldShards& held,
                                                    ShardNumber shard) {
  // Webhooks newer than this version may be missing: their deliveries are handed over.
  POSTRIDER_TRY(const CatalogVersion version, read_catalog_version(session));
  if (version_ != version) {
    version_.reset();
    POSTRIDER_CHECK(read_webhooks(session, held));
    version_ = version;
  }
  return read_backlog(session, webhooks_[shard]);
}

Result<void> ShardBacklog::read_webhooks(Session& session, const HeldShards& held) {
  POSTRIDER_TRY(const Rows rows, session.run(webhooks_sql));
  webhooks_.assign(shard_count, {});
  for (int row = 0; row < rows.count(); ++row) {
    if (held.pool_of(rows.text(row, 1)) == held.pool()) {
      const auto id = rows.id<WebhookId>(row, 0);
      webhooks_[shard_of(id)].push_back(id);
    }
  }
  for (std::vector<WebhookId>& of_shard : webhooks_) {
    std::ranges::sort(of_shard);
  }
  return {};
}

}  // namespace postrider::postgres
