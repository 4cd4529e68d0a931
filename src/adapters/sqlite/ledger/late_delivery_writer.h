// Writes late deliveries, that is, deliveries of events that were published before. Store thread
// only.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"
#include "adapters/sqlite/ledger/fanout_writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session.
class LateDeliveryWriter {
 public:
  [[nodiscard]] static Result<LateDeliveryWriter> open(Writer::Session& session);

  /// Call within a transaction. Returns nullopt if the event is unknown or the webhook already has
  /// a delivery of it, or will get one from a note. Updates the waiting change in `receipt`.
  [[nodiscard]] Result<std::optional<Delivery>> add(const AddLateDelivery& order,
                                                    FanoutWriter& fanouts, BatchReceipt& receipt);

 private:
  struct StoredEvent {
    std::int64_t sequence = 0;
    std::int64_t tenant = 0;
    std::int64_t delivery_count = 0;
  };

  explicit LateDeliveryWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<std::optional<StoredEvent>> find_event(EventId id);
  [[nodiscard]] Result<bool> has_delivery(const StoredEvent& event, std::int64_t lane);

  Writer::Session* session_;
  Statement find_event_;
  Statement find_delivery_;
  Statement insert_;
  Statement unsettle_rows_;
};

}  // namespace postrider::sqlite
