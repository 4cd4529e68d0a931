// The store thread, modelled: takes what queued up, spends some time, commits it as one, answers in
// order. A commit may fail, may be stored although it failed, and may be cut off by a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/random.h"

#include "adapters/memory/memory_store.h"

#include "tests/simulation/scenario.h"
#include "tests/simulation/timeline.h"

namespace postrider::sim {

struct SimPublish {
  Publish publish;
  std::function<void(const Result<PublishReceipt>&)> done;
};
struct SimSettle {
  std::size_t shard = 0;
  Settlement settlement;
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
struct SimLoad {
  std::size_t shard = 0;
  LoadLane query;
};
/// One step of bringing forward what waits; the next one queues up behind what came meanwhile.
struct SimReschedule {
  BringForward order;
};
/// A change to the catalogue, after the turn's commit.
struct SimCatalog {
  std::function<void(Catalog&)> run;
};
using SimJob = std::variant<SimPublish, SimSettle, SimCircuit, SimRevive, SimReplay, SimCancel,
                            SimLoad, SimReschedule, SimCatalog>;

class SimStore {
 public:
  struct Parts {
    Timeline* timeline = nullptr;
    SplitMix64* random = nullptr;
    const Scenario* scenario = nullptr;
    /// To the shard that owns the webhook.
    std::function<void(WebhookId, Input)> tell;
    /// None when it is gone.
    std::function<std::shared_ptr<const Webhook>(WebhookId)> webhook;
    /// All that waits for it is as its policy wants.
    std::function<void(WebhookId)> rescheduled;
    /// A revival is on disk, and whoever asked for it knows.
    std::function<void(const Delivery&)> revived;
    /// A failed commit may be stored after all: the lanes must look.
    std::function<void(const std::vector<LaneBacklog>&)> recovered;
  };

  SimStore(MemoryStore& durable, Parts parts);

  void submit(SimJob job);
  /// Nothing queued survives. The transaction under way made it to the disk, or did not.
  void crash();
  /// No more failures from now on.
  void calm() { troubled_ = false; }
  [[nodiscard]] bool idle() const { return !busy_ && queue_.empty(); }
  [[nodiscard]] bool failing() const { return broken_; }

 private:
  void begin_turn();
  void end_turn();
  [[nodiscard]] Batch gather(const std::vector<SimJob>& jobs) const;
  void answer(const std::vector<SimJob>& jobs, const BatchReceipt& receipt);
  void answer_failure(const std::vector<SimJob>& jobs);
  void perform(const std::vector<SimJob>& jobs);
  void recover();
  void reschedule(BringForward order);
  [[nodiscard]] bool chance(std::uint32_t per_mille) {
    return parts_.random->below(1'000) < per_mille;
  }

  Parts parts_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Catalog> catalog_;
  std::vector<SimJob> queue_;
  std::optional<std::vector<SimJob>> under_way_;
  std::vector<SaveCircuit> unsaved_circuits_;
  std::uint64_t life_ = 0;  // What was scheduled before a crash does not happen after it.
  bool busy_ = false;       // Until the last answer of a turn is given.
  bool broken_ = false;
  bool troubled_ = true;
};

}  // namespace postrider::sim
