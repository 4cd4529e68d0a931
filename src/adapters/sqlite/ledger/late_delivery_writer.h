// Late deliveries: of events that are stored already.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Prepared on one session of the writer, and gone before that session is.
class LateDeliveryWriter {
 public:
  [[nodiscard]] static Result<LateDeliveryWriter> open(Writer::Session& session);

  /// Within a transaction. nullopt when the event is unknown or the webhook has it already.
  [[nodiscard]] Result<std::optional<Delivery>> add(const AddLateDelivery& order);

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
};

}  // namespace postrider::sqlite
