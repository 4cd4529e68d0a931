#include "adapters/postgres/store/peers/peers.h"

#include <utility>

#include "core/base/assert.h"

#include "adapters/postgres/store/peers/catalog_reads.h"
#include "adapters/postgres/store/peers/handoff_reads.h"
#include "adapters/postgres/store/peers/shard_backlog.h"

namespace postrider::postgres {
namespace {

class PostgresPeers final : public Peers {
 public:
  PostgresPeers(std::shared_ptr<Writer> writer, std::shared_ptr<HeldShards> held)
      : writer_(std::move(writer)), held_(std::move(held)) {}

  void join(std::string pool) override {
    POSTRIDER_ASSERT(!held_->has_joined());
    held_->join(std::move(pool));
  }

  Result<bool> forget_handed_over(const std::vector<ShardEpoch>& leases,
                                  std::size_t limit) override {
    POSTRIDER_ASSERT(held_->has_joined());
    POSTRIDER_CHECK(writer_->usable());
    return postgres::forget_handed_over(writer_->session(), held_->pool(), leases, limit);
  }

  void hold(ShardEpoch lease) override {
    POSTRIDER_ASSERT(held_->has_joined() && lease.shard < shard_count);
    held_->hold(lease);
  }

  void release(ShardNumber shard) override { held_->release(shard); }
  [[nodiscard]] bool holds(ShardNumber shard) const override { return held_->holds(shard); }

  void set_pools(std::map<TenantId, std::string> pools) override {
    held_->set_pools(std::move(pools));
    backlog_.forget();
  }

  Result<HandedOver> receive(std::size_t limit) override {
    POSTRIDER_CHECK(writer_->usable());
    return receive_handed_over(writer_->session(), *held_, limit);
  }

  Result<void> command(const CircuitCommanded& command) override {
    return writer_->transact_repeatedly(
        [&] { return hand_over(writer_->session(), *held_, command); });
  }

  Result<CatalogVersion> catalog_version() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_catalog_version(writer_->session());
  }

  Result<CatalogChanges> changes_since(CatalogVersion seen) override {
    POSTRIDER_CHECK(writer_->usable());
    return read_catalog_changes(writer_->session(), seen);
  }

  Result<CatalogVersion> lock_catalog() override {
    POSTRIDER_CHECK(writer_->usable());
    return postgres::lock_catalog(writer_->session());
  }

  Result<std::vector<LaneBacklog>> backlog(ShardNumber shard) override {
    POSTRIDER_ASSERT(held_->has_joined() && shard < shard_count);
    POSTRIDER_CHECK(writer_->usable());
    return backlog_.read(writer_->session(), *held_, shard);
  }

  Result<void> remove_old() override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_CHECK(remove_old_catalog_changes(writer_->session()));
      return remove_old_handoffs(writer_->session());
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
  std::shared_ptr<HeldShards> held_;
  ShardBacklog backlog_;
};

}  // namespace

std::unique_ptr<Peers> make_peers(std::shared_ptr<Writer> writer,
                                  std::shared_ptr<HeldShards> held) {
  return std::make_unique<PostgresPeers>(std::move(writer), std::move(held));
}

}  // namespace postrider::postgres
