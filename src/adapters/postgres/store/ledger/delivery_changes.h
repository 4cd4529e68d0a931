// Decides what the settlements, revivals and cancels of a batch do to their deliveries, as they are
// stored. Pure: the rules are those of ports/settlement_rule.h, the rows were read before and are
// written afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/ledger/stats_changes.h"

namespace postrider::postgres {

/// A delivery that a batch names.
struct NamedDelivery {
  Delivery delivery;
  TenantId tenant_id;
  WallTime updated_at;
  std::optional<WallTime> completed_at;
  std::optional<DeadReason> dead;
  std::optional<FailureCategory> last_failure;
  std::optional<std::uint16_t> last_http_status;
  std::optional<OperationId> operation;  // Set if delivery.in_operation is.

  bool is_in_waiting = true;  // The row is in the table waiting; if not, in delivery.
  bool changed = false;       // Differs from the row.
  /// Attempts with higher numbers are not stored.
  std::uint32_t attempts_stored = 0;
};

/// An attempt to store.
struct RecordedAttempt {
  const Settlement* settlement = nullptr;
  std::size_t delivery = 0;  // Index in `deliveries`.
};

class DeliveryChanges {
 public:
  using AttemptKey = std::pair<DeliveryId, std::uint32_t>;  // The delivery and the number.

  /// The functions below update the totals in `receipt` and `stats`.
  DeliveryChanges(BatchReceipt& receipt, StatsChanges& stats) : receipt_(receipt), stats_(stats) {}

  /// Call once for each stored delivery that the batch names.
  void add(NamedDelivery delivery);
  [[nodiscard]] bool contains(DeliveryId id) const { return places_.contains(id); }
  /// The delivery must have been added.
  [[nodiscard]] const TenantId& tenant_of(DeliveryId id) const {
    return deliveries_[places_.at(id)].tenant_id;
  }

  /// The attempts that may already be stored. The caller must look for them.
  [[nodiscard]] std::vector<AttemptKey> attempts_to_find(
      const std::vector<Settlement>& settlements) const;
  /// Call for each of these attempts that is stored.
  void add_stored_attempt(const AttemptKey& attempt) { attempts_stored_.insert(attempt); }

  void settle(const Settlement& settlement);
  [[nodiscard]] Result<Delivery> revive(const Revive& order);
  [[nodiscard]] Result<Delivery> cancel(const Cancel& order);

  /// Call when a delivery was added to the event or has left a final state.
  void unsettle(EventId event) { unsettled_.insert(event); }

  [[nodiscard]] const std::vector<NamedDelivery>& deliveries() const { return deliveries_; }
  [[nodiscard]] const std::vector<RecordedAttempt>& attempts() const { return attempts_; }
  /// The events whose tracked rows become unsettled: see ports/source_rows.h.
  [[nodiscard]] const std::set<EventId>& unsettled() const { return unsettled_; }

 private:
  [[nodiscard]] NamedDelivery* find(DeliveryId id);
  void apply(const Settlement& settlement, NamedDelivery& stored);
  void succeed(const Settlement& settlement, NamedDelivery& stored);
  void record_attempt(const Settlement& settlement, NamedDelivery& stored);
  void add_settled(const NamedDelivery& settled);
  void uncount(const NamedDelivery& settled);

  BatchReceipt& receipt_;
  StatsChanges& stats_;
  std::vector<NamedDelivery> deliveries_;
  std::unordered_map<DeliveryId, std::size_t> places_;  // In deliveries_.
  std::vector<RecordedAttempt> attempts_;
  std::set<AttemptKey> attempts_stored_;
  std::set<EventId> unsettled_;
};

}  // namespace postrider::postgres
