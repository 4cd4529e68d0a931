// A model of the store thread: takes what has queued up, spends some time, commits it as one
// transaction and answers in order. A commit may fail, may be stored although it failed, and may be
// interrupted by a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "engine/intake/fanout_turns.h"

#include "adapters/memory/memory_store.h"
#include "runtime/store/shard_replies.h"

#include "tests/simulation/scenario.h"
#include "tests/simulation/timeline.h"

namespace postrider::sim {

struct SimPublish {
  Publish publish;
  std::function<void(const Result<PublishReceipt>&)> done;
  std::optional<CatalogVersion> planned_with = std::nullopt;  // See Batch::catalog_seen.
};
struct SimSettle {
  std::size_t shard = 0;
  std::vector<Settlement> settlements;
};
struct SimCircuit {
  SaveCircuit save;
};
struct SimRevive {
  Revive revive;
};
/// A chunk of a replay: its orders are one transaction.
struct SimReplay {
  std::vector<Revive> revivals;
  std::vector<AddLateDelivery> late_deliveries;
};
struct SimCancel {
  Cancel cancel;
};
struct SimLoadLane {
  std::size_t shard = 0;
  LoadLane query;
};
struct SimLoadEvents {
  std::size_t shard = 0;
  std::vector<EventId> ids;
  std::function<void(Result<std::vector<Event>>)> done;
};
/// One step of bringing waiting deliveries forward. The next step queues behind newer jobs.
struct SimReschedule {
  BringForward order;
};
/// One step of making deliveries from notes. The next step queues behind newer jobs.
struct SimFanOut {};
/// A change to the catalogue, or what else is done after the turn's commit. Tried again after a
/// failure, before all newer jobs.
struct SimCatalog {
  std::function<void(Catalog&, RepliesByShard&)> run;
};
using SimJob = std::variant<SimPublish, SimSettle, SimCircuit, SimRevive, SimReplay, SimCancel,
                            SimLoadLane, SimLoadEvents, SimReschedule, SimFanOut, SimCatalog>;

class SimStore {
 public:
  /// Everything referred to must outlive the store.
  struct Parts {
    Timeline* timeline = nullptr;
    SplitMix64* random = nullptr;
    const Scenario* scenario = nullptr;
    /// Hands one turn's replies to a shard.
    std::function<void(std::size_t shard, ShardReplies replies)> deliver;
    /// Returns null if the webhook is gone.
    std::function<std::shared_ptr<const Webhook>(WebhookId)> webhook;
    /// All waiting deliveries of the webhook follow its retry policy.
    std::function<void(WebhookId)> rescheduled;
    std::function<DeliveryId()> new_delivery_id;
    /// A revival is on disk.
    std::function<void(const Delivery&)> revived;
    /// A failed commit may be stored after all: the lanes must look.
    std::function<void(const std::vector<LaneBacklog>&, RepliesByShard&)> recovered;

    // With a database that several nodes share.
    /// A commit succeeded. What is added to the replies comes before the commit's own.
    std::function<void(RepliesByShard&)> committed = [](RepliesByShard&) {};
    /// Whether the database cannot be reached now.
    std::function<bool()> is_cut_off = [] { return false; };
    /// Brings the answers of a turn to the node. They may be delayed.
    std::function<void(std::function<void()>)> arrive = [](const auto& act) { act(); };
  };

  SimStore(std::unique_ptr<Ledger> ledger, std::unique_ptr<Catalog> catalog, Parts parts);

  void submit(SimJob job);
  /// For jobs that are performed: calls `act` when their turn is answered, before the replies.
  void at_end(std::function<void()> act) { done_.push_back(std::move(act)); }
  /// Drops everything queued. The transaction in progress is stored or lost.
  void crash();
  /// Forgets unsaved circuits of the shard: another node decides about them now.
  void forget_circuits(ShardNumber shard);
  /// Continues with the notes that are stored. Call after a start.
  void resume_fanouts();
  /// Ends all failures.
  void calm() { troubled_ = false; }
  [[nodiscard]] bool idle() const { return !busy_ && queue_.empty(); }
  [[nodiscard]] bool failing() const { return broken_; }

 private:
  void begin_turn();
  void end_turn();
  /// Gives the answers of a turn.
  void finish_turn(RepliesByShard& replies);
  void commit(std::vector<SimJob>& jobs, RepliesByShard& replies);
  void answer(std::vector<SimJob>& jobs, Batch& batch, BatchReceipt& receipt,
              RepliesByShard& replies);
  /// The answer to the turn's commit does not come.
  void fail(std::vector<SimJob>& jobs, RepliesByShard& replies);
  void answer_failure(std::vector<SimJob>& jobs, RepliesByShard& replies);
  void perform(std::vector<SimJob>& jobs, RepliesByShard& replies);
  void load_lane(const LoadLane& query, ShardReplies& replies);
  void load_events(SimLoadEvents& load, ShardReplies& replies);
  void recover(RepliesByShard& replies);
  void reschedule(BringForward order, RepliesByShard& replies);
  void queue_fan_out();
  void fan_out(RepliesByShard& replies);
  [[nodiscard]] bool chance(std::uint32_t per_mille) {
    return parts_.random->below(1'000) < per_mille;
  }

  Parts parts_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Catalog> catalog_;
  std::vector<SimJob> queue_;
  std::optional<std::vector<SimJob>> under_way_;
  std::vector<std::function<void()>> done_;  // To be called at the end of the turn.
  std::vector<SaveCircuit> unsaved_circuits_;
  FanoutTurns turns_;
  bool fan_out_queued_ = false;
  std::uint64_t life_ = 0;  // Counts crashes: what was scheduled before one does not happen.
  bool busy_ = false;       // Until the last answer of a turn is given.
  bool broken_ = false;
  bool request_lost_ = false;  // The database was cut off when the turn began.
  bool troubled_ = true;
};

}  // namespace postrider::sim
