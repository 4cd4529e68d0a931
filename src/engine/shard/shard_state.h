// The inside of a Shard. One step goes: take the input in, wake what time has made worth a look,
// look at every lane that was touched, start what may start, and say what else is needed.
//
// shard_inputs.cc says what each input means, shard_dispatch.cc what may start and when to look
// again, shard_view.cc what people see.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/random.h"
#include "engine/shard/agenda.h"
#include "engine/shard/allowance.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/lane_table.h"
#include "engine/shard/load_queue.h"
#include "engine/shard/pending_settlements.h"
#include "engine/shard/shard.h"
#include "engine/shard/tenants.h"

namespace postrider {

struct ShardState {
  /// Without `shared` its limits are its own.
  ShardState(ShardOptions shard_options, std::uint64_t seed, Allowance* shared = nullptr);

  // ------------------------------------------------------------ shard_inputs.cc

  void on(Admitted& input);
  void on(LaneLoaded& input);
  void on(LaneLoadFailed& input);
  void on(AttemptFinished& input);
  void on(AttemptAbandoned& input);
  void on(Settled& input);
  void on(StoreFailed& input);
  void on(WebhookChanged& input);
  void on(Rescheduled& input);
  void on(WebhookRemoved& input);
  void on(DeliveryCancelled& input);
  void on(CircuitCommanded& input);
  void on(SlotKept& input);
  void on(AlarmRang& input);
  void on(DrainRequested& input);

  // ------------------------------------------------------------ shard_dispatch.cc

  void begin(Moment moment);
  void wake();
  void look_at_touched();
  void ask_store_again();
  void start_what_may_start();
  void ask_for_loads();
  void finish_drain();
  void set_alarm();

  // ------------------------------------------------------------ shard_view.cc

  [[nodiscard]] LaneView view(const Lane& lane, Moment steady) const;

  // ------------------------------------------------------------ between these files

  /// Why nothing starts in the whole shard; none when something may.
  [[nodiscard]] BlockReason standstill() const;
  [[nodiscard]] WindowBounds bounds() const;
  void touch(const Lane& lane) { lanes.touch(lane.index()); }

  /// Calls `change(breaker)` and says what became of the circuit.
  template <class Change>
  auto with_circuit(Lane& lane, Change change);
  void circuit_changed(const Lane& lane, const CircuitRecord& before);

  void settle(Settlement settlement);
  void give_back_slot(TenantIndex index);

  ShardOptions options;
  std::unique_ptr<Allowance> own_allowance;  // Null when it is shared.
  Allowance& allowance;
  Moment now;  // Of the step. Its wall is the steady one.
  SplitMix64 random;
  UuidMaker ids;

  LaneTable lanes;
  Tenants tenants;
  FairShare share;
  PendingSettlements pending;
  LoadQueue loads;

  Agenda<WallTime> wall_agenda;    // Lanes, by steady wall time.
  Agenda<MonoTime> mono_agenda;    // Lanes, by monotonic time: tokens and pauses.
  Agenda<MonoTime> tenant_agenda;  // Tenants whose bucket is empty.
  std::optional<MonoTime> total_token_at;
  bool slot_refused = false;         // Of all tenants, and one may be kept since.
  std::vector<TenantIndex> kept_of;  // Tenants of which one was kept.
  std::optional<MonoTime> alarm_at;  // The one that is set.

  ShardView totals;
  std::uint32_t waiting_count = 0;  // The sum of totals.waiting.
  bool draining = false;
  bool drained = false;
  Commands commands;

 private:
  void look(Lane& lane);
  void wake_circuit(Lane& lane);
  void count(const Lane& lane);
  void discard(Lane& lane);
  [[nodiscard]] TenantIndex join_tenant(const TenantId& id);
  void leave_tenant(TenantIndex index);
  void park(TenantIndex index, Parked why);
  void unpark(TenantIndex index, Parked why);
  void cancel_unknown(Delivery delivery);
  void disable(Lane& lane, const std::string& reason);
  [[nodiscard]] Lane& lane_of(const WebhookChanged& input);
  void move_lane(Lane& lane, const TenantId& tenant_id);
  void shorten_sleep(Lane& lane);
  /// A delivery whose turn it is, and what it has taken.
  struct Start {
    Turn turn;
    Candidates among = Candidates::all;
    Entry* entry = nullptr;
  };
  [[nodiscard]] std::optional<Start> next_start();
  [[nodiscard]] std::optional<Start> choose(Candidates among);
  void refused(TenantIndex index, const Permit& permit);
  void forgo_slots();
  void start(const Start& chosen);
  void give_up(const Start& chosen);
  [[nodiscard]] std::optional<MonoTime> next_wake() const;

  /// What of each lane is in the totals, by lane.
  struct Counted {
    std::array<std::uint32_t, priority_count> waiting{};
    CircuitState circuit = CircuitState::closed;
    bool present = false;
  };
  std::vector<Counted> counted_;
};

template <class Change>
auto ShardState::with_circuit(Lane& lane, Change change) {
  const CircuitRecord before = lane.breaker().record();
  if constexpr (std::is_void_v<decltype(change(lane.breaker()))>) {
    change(lane.breaker());
    circuit_changed(lane, before);
  } else {
    const auto result = change(lane.breaker());
    circuit_changed(lane, before);
    return result;
  }
}

}  // namespace postrider
