#include "tests/support/shared_memory_store.h"

#include <algorithm>
#include <chrono>

#include "tests/support/test_digest.h"

namespace postrider::test {
namespace {

using Member = SharedMemoryStore::Member;
using MemberRef = std::shared_ptr<Member>;

tl::unexpected<Error> lost_connection() {
  return fail(Errc::unavailable, "The connection is made to fail.");
}

class SharedLedger final : public Ledger {
 public:
  SharedLedger(SharedMemoryStore& store, MemberRef member)
      : store_(store), member_(std::move(member)), rows_(make_memory_ledger(store.rows)) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    if (member_->fails("commit")) {
      return lost_connection();
    }
    const auto turn = store_.take_turn();
    Batch allowed = batch;
    std::set<ShardNumber> lost;
    if (member_->joined) {
      const auto is_lost = [&](WebhookId id) {
        const bool kept = store_.may_store(*member_, shard_of(id));
        if (!kept) {
          lost.insert(shard_of(id));
        }
        return !kept;
      };
      std::erase_if(allowed.settlements, [&](const Settlement& settlement) {
        return is_lost(settlement.delivery.webhook_id);
      });
      std::erase_if(allowed.circuits,
                    [&](const SaveCircuit& save) { return is_lost(save.webhook_id); });
    }
    const bool outdated = batch.catalog_seen && *batch.catalog_seen != store_.version();
    if (outdated) {
      allowed.publishes.clear();
    }
    POSTRIDER_TRY(BatchReceipt receipt, rows_->commit(allowed));
    if (outdated) {
      receipt.publishes.assign(batch.publishes.size(), Outdated{});
    }
    receipt.lost.assign(lost.begin(), lost.end());
    hand_over(receipt);
    return receipt;
  }

  Result<void> recover() override {
    return member_->fails("recover") ? Result<void>{lost_connection()} : rows_->recover();
  }
  Result<LanePage> load_lane(const LoadLane& query) override { return rows_->load_lane(query); }
  Result<std::vector<LaneBacklog>> backlog() override {
    if (member_->fails("all_backlog")) {
      return lost_connection();
    }
    return rows_->backlog();
  }
  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    if (member_->fails("recent_calls")) {
      return lost_connection();
    }
    return rows_->recent_calls(id, which);
  }
  Result<BroughtForward> bring_forward(const BringForward& order) override {
    const auto turn = store_.take_turn();
    if (member_->joined && !store_.may_store(*member_, shard_of(order.webhook_id))) {
      return fail(Errc::conflict, "Another node holds the shard.");
    }
    return rows_->bring_forward(order);
  }
  Result<FannedOut> fan_out(const FanOutStep& step) override {
    const auto turn = store_.take_turn();
    POSTRIDER_TRY(FannedOut made, rows_->fan_out(step));
    for (const FannedOut::Part& part : made.parts) {
      for (const Delivery& delivery : part.deliveries) {
        made.handed_over |= store_.hand_over(*member_, delivery);
      }
    }
    return made;
  }
  Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    return rows_->open_fanouts();
  }
  Result<TenantCounts> count_waiting() override {
    if (member_->fails("count_waiting")) {
      return lost_connection();
    }
    return rows_->count_waiting();
  }
  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    return rows_->load_events(ids);
  }

 private:
  void hand_over(BatchReceipt& receipt) {
    const auto add = [&](const Delivery& delivery) {
      receipt.handed_over |= store_.hand_over(*member_, delivery);
    };
    for (const PublishReceipt& publish : receipt.publishes) {
      if (const auto* accepted = std::get_if<Accepted>(&publish)) {
        std::ranges::for_each(accepted->deliveries, add);
      }
    }
    for (const std::optional<Delivery>& late : receipt.late_deliveries) {
      if (late) {
        add(*late);
      }
    }
    for (const auto* changes : {&receipt.revivals, &receipt.cancels}) {
      for (const Result<Delivery>& changed : *changes) {
        if (changed) {
          add(*changed);
        }
      }
    }
  }

  SharedMemoryStore& store_;
  MemberRef member_;
  std::unique_ptr<Ledger> rows_;
};

class SharedPeers final : public Peers {
 public:
  SharedPeers(SharedMemoryStore& store, MemberRef member)
      : store_(store), member_(std::move(member)), rows_(make_memory_ledger(store.rows)) {}

  void join(std::string pool) override {
    member_->joined = true;
    member_->pool = std::move(pool);
  }
  Result<bool> forget_handed_over(const std::vector<ShardEpoch>& leases,
                                  std::size_t limit) override {
    if (member_->fails("forget_handed_over")) {
      return lost_connection();
    }
    const auto turn = store_.take_turn();
    return store_.forget_handed_over(*member_, leases, limit);
  }
  void hold(ShardEpoch lease) override { member_->held[lease.shard] = lease.epoch; }
  void release(ShardNumber shard) override { member_->held.erase(shard); }
  [[nodiscard]] bool holds(ShardNumber shard) const override {
    return member_->held.contains(shard);
  }
  void set_pools(std::map<TenantId, std::string> pools) override {
    member_->pools = std::move(pools);
  }
  Result<HandedOver> receive(std::size_t limit) override {
    if (member_->fails("receive")) {
      return lost_connection();
    }
    const auto turn = store_.take_turn();
    return store_.receive(*member_, limit);
  }
  Result<void> command(const CircuitCommanded& command) override {
    const auto turn = store_.take_turn();
    return store_.hand_over(*member_, command);
  }
  Result<CatalogVersion> catalog_version() override {
    const auto turn = store_.take_turn();
    return store_.version();
  }
  Result<CatalogChanges> changes_since(CatalogVersion seen) override {
    if (member_->fails("changes_since")) {
      return lost_connection();
    }
    const auto turn = store_.take_turn();
    return store_.changes_since(seen);
  }
  /// The transaction holds the turn.
  Result<CatalogVersion> lock_catalog() override { return store_.version(); }
  Result<std::vector<LaneBacklog>> backlog(ShardNumber shard) override {
    if (member_->fails("backlog")) {
      return lost_connection();
    }
    const auto turn = store_.take_turn();
    POSTRIDER_TRY(std::vector<LaneBacklog> all, rows_->backlog());
    return store_.of_shard(*member_, shard, std::move(all));
  }
  Result<void> remove_old() override { return {}; }

 private:
  SharedMemoryStore& store_;
  MemberRef member_;
  std::unique_ptr<Ledger> rows_;
};

}  // namespace

Store SharedMemoryStore::open(NodeId id, FailCall fails) {
  rows.digest = test_digest;
  auto member = std::make_shared<Member>(
      Member{.id = id,
             .pool = {},
             .joined = false,
             .held = {},
             .pools = {},
             .fails = fails ? std::move(fails) : [](const std::string&) { return false; }});
  Store store = make_memory_store(rows);
  store.ledger = std::make_unique<SharedLedger>(*this, member);
  store.peers = std::make_unique<SharedPeers>(*this, member);
  store.atomically = [this, member](const std::function<Result<void>()>& body) -> Result<void> {
    if (member->fails("atomically")) {
      return lost_connection();
    }
    const auto turn = take_turn();
    std::optional<MemoryStore> before;
    {
      const std::lock_guard lock{rows.mutex};
      before.emplace(rows);
    }
    Result<void> done = body();
    if (!done) {
      const std::lock_guard lock{rows.mutex};
      rows = *before;
    }
    return done;
  };
  return store;
}

SharedMemoryStore::Catalog SharedMemoryStore::current() {
  const std::lock_guard lock{rows.mutex};
  Catalog catalog{.webhooks = rows.webhooks,
                  .keys = rows.api_keys,
                  .sessions = rows.sessions,
                  .links = rows.links,
                  .tenants = rows.tenants,
                  .event_types = rows.event_types,
                  .channels = rows.channels,
                  .operations = {}};
  for (const auto& [id, operation] : rows.operations) {
    catalog.operations.emplace(id, operation.status);
  }
  return catalog;
}

CatalogVersion SharedMemoryStore::version() {
  Catalog now = current();
  std::vector<Change> changes;
  const CatalogVersion next = version_ + 1;
  const auto note = [&](bool changed, CatalogPart part) {
    if (changed) {
      changes.push_back({.version = next, .part = part});
    }
  };
  note(now.keys != known_.keys || now.sessions != known_.sessions || now.links != known_.links ||
           now.tenants != known_.tenants,
       CatalogPart::access);
  note(now.event_types != known_.event_types, CatalogPart::event_types);
  note(now.channels != known_.channels, CatalogPart::channels);
  note(now.operations != known_.operations, CatalogPart::operations);
  for (const auto* each : {&now.webhooks, &known_.webhooks}) {
    for (const auto& [id, webhook] : *each) {
      const auto before = known_.webhooks.find(id);
      const bool same = before != known_.webhooks.end() && now.webhooks.contains(id) &&
                        now.webhooks.at(id) == before->second;
      if (!same) {
        changes.push_back({.version = next, .part = CatalogPart::webhooks, .webhook_id = id});
      }
    }
  }
  if (!changes.empty()) {
    version_ = next;
    changes_.insert(changes_.end(), changes.begin(), changes.end());
    known_ = std::move(now);
  }
  return version_;
}

CatalogChanges SharedMemoryStore::changes_since(CatalogVersion seen) {
  CatalogChanges found{.version = version(),
                       .webhooks = {},
                       .parts = {},
                       .incomplete = seen < changes_complete_since_ || seen > version_};
  std::set<WebhookId> webhooks;
  std::set<CatalogPart> parts;
  for (const Change& change : changes_) {
    if (change.version > seen) {
      if (change.part == CatalogPart::webhooks) {
        webhooks.insert(change.webhook_id);
      } else {
        parts.insert(change.part);
      }
    }
  }
  found.webhooks.assign(webhooks.begin(), webhooks.end());
  found.parts.assign(parts.begin(), parts.end());
  return found;
}

bool SharedMemoryStore::may_store(const Member& member, ShardNumber shard) const {
  const auto held = member.held.find(shard);
  if (held == member.held.end()) {
    return false;
  }
  const Lease lease = leases.lease(member.pool, shard);
  return lease.owner == member.id && lease.epoch == held->second;
}

std::string SharedMemoryStore::pool_of(const Member& member, WebhookId id) {
  const std::lock_guard lock{rows.mutex};
  const auto webhook = rows.webhooks.find(id);
  if (webhook == rows.webhooks.end()) {
    return {};
  }
  const auto pool = member.pools.find(webhook->second.tenant_id);
  return pool == member.pools.end() ? std::string{} : pool->second;
}

bool SharedMemoryStore::hand_over(const Member& member, const Delivery& delivery) {
  if (!member.joined) {
    return false;
  }
  const std::string pool = pool_of(member, delivery.webhook_id);
  if (pool == member.pool && may_store(member, shard_of(delivery.webhook_id))) {
    return false;
  }
  handed_.push_back({.pool = pool,
                     .webhook_id = delivery.webhook_id,
                     .delivery_id = delivery.id,
                     .command = std::nullopt});
  return true;
}

Result<void> SharedMemoryStore::hand_over(const Member& member, const CircuitCommanded& command) {
  {
    const std::lock_guard lock{rows.mutex};
    if (!rows.webhooks.contains(command.webhook_id)) {
      return fail(Errc::not_found, "There is no such webhook.");
    }
  }
  handed_.push_back({.pool = pool_of(member, command.webhook_id),
                     .webhook_id = command.webhook_id,
                     .delivery_id = std::nullopt,
                     .command = command});
  return {};
}

bool SharedMemoryStore::forget_handed_over(const Member& member, const std::vector<ShardEpoch>& of,
                                           std::size_t limit) {
  std::size_t forgotten = 0;
  std::erase_if(handed_, [&](const Handed& each) {
    const ShardNumber shard = shard_of(each.webhook_id);
    const Lease lease = leases.lease(member.pool, shard);
    const bool is_named =
        each.pool == member.pool && each.delivery_id && forgotten < limit &&
        lease.owner == member.id &&
        std::ranges::count(of, ShardEpoch{.shard = shard, .epoch = lease.epoch}) > 0;
    forgotten += is_named ? 1 : 0;
    return is_named;
  });
  return forgotten == limit;
}

HandedOver SharedMemoryStore::receive(const Member& member, std::size_t limit) {
  HandedOver received;
  std::erase_if(handed_, [&](const Handed& each) {
    if (received.taken == limit || each.pool != member.pool ||
        !may_store(member, shard_of(each.webhook_id))) {
      return false;
    }
    ++received.taken;
    if (each.command) {
      received.commands.push_back(*each.command);
      ++commands_taken_;
      return true;
    }
    const std::lock_guard lock{rows.mutex};
    const auto sequence = rows.delivery_sequences.find(*each.delivery_id);
    if (sequence != rows.delivery_sequences.end()) {
      const Delivery& delivery = rows.deliveries.at(sequence->second).delivery;
      if (is_waiting(delivery.state)) {
        received.deliveries.push_back(delivery);
      } else {
        received.closed.push_back({each.webhook_id, *each.delivery_id});
      }
    }
    return true;
  });
  received.more = received.taken == limit;
  return received;
}

std::vector<LaneBacklog> SharedMemoryStore::of_shard(const Member& member, ShardNumber shard,
                                                     std::vector<LaneBacklog> all) {
  std::erase_if(all, [&](const LaneBacklog& lane) {
    {
      const std::lock_guard lock{rows.mutex};
      if (!rows.webhooks.contains(lane.webhook_id)) {
        return true;
      }
    }
    return shard_of(lane.webhook_id) != shard || pool_of(member, lane.webhook_id) != member.pool;
  });
  return all;
}

// ---------------------------------------------------------------- signals

class SharedSignals::Port final : public PeerSignals {
 public:
  explicit Port(SharedSignals& hub) : hub_(hub) {
    const std::lock_guard lock{hub_.mutex_};
    hub_.ports_.insert(this);
  }
  ~Port() override {
    const std::lock_guard lock{hub_.mutex_};
    hub_.ports_.erase(this);
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  Result<void> signal() override {
    const std::lock_guard lock{hub_.mutex_};
    if (hub_.failing_) {
      return lost_connection();
    }
    ++hub_.sent_;
    for (Port* port : hub_.ports_) {
      port->signalled_ |= port != this && !hub_.deaf_;
    }
    hub_.changed_.notify_all();
    return {};
  }
  Result<bool> wait(Millis max) override {
    std::unique_lock lock{hub_.mutex_};
    const auto is_over = [this] { return hub_.failing_ || signalled_ || woken_; };
    hub_.changed_.wait_for(lock, max, is_over);
    woken_ = false;
    if (hub_.failing_) {
      return lost_connection();
    }
    return std::exchange(signalled_, false);
  }
  [[nodiscard]] bool is_listening() const override {
    const std::lock_guard lock{hub_.mutex_};
    return !hub_.failing_ && !hub_.deaf_;
  }
  void wake() override {
    const std::lock_guard lock{hub_.mutex_};
    woken_ = true;
    hub_.changed_.notify_all();
  }

 private:
  SharedSignals& hub_;
  bool signalled_ = false;  // Guarded by the hub's mutex, as the next.
  bool woken_ = false;
};

std::unique_ptr<PeerSignals> SharedSignals::open() { return std::make_unique<Port>(*this); }

}  // namespace postrider::test
