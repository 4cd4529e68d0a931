// The settlements of a batch, and what people change about single deliveries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"
#include "adapters/sqlite/ledger/request_shapes.h"

namespace postrider::sqlite {

/// Prepared on one session of the writer, and gone before that session is. All within a
/// transaction.
class SettlementWriter {
 public:
  [[nodiscard]] static Result<SettlementWriter> open(Writer::Session& session);

  /// What else there is to say about it goes into the receipt, here and below.
  [[nodiscard]] Result<void> settle(const Settlement& settlement, BatchReceipt& receipt);

  /// The outer result is the store's, the inner one the answer to the person.
  [[nodiscard]] Result<Result<Delivery>> revive(const Revive& order, BatchReceipt& receipt);
  [[nodiscard]] Result<Result<Delivery>> cancel(const Cancel& order, BatchReceipt& receipt);

  /// Ignored when there is no such webhook.
  [[nodiscard]] Result<void> save_circuit(const SaveCircuit& circuit);

 private:
  SettlementWriter(Writer::Session& session, RequestShapeCache shapes)
      : session_(&session), shapes_(std::move(shapes)) {}

  [[nodiscard]] Result<bool> move(const Settlement& settlement);
  [[nodiscard]] Result<bool> note_late_attempt(const Settlement& settlement);
  [[nodiscard]] Result<bool> record_attempt(const Settlement& settlement);
  [[nodiscard]] Result<void> count(const Settlement& settlement, const Attempt* attempt, bool died);
  [[nodiscard]] Result<std::int64_t> tenant_of(const Delivery& delivery);
  [[nodiscard]] Result<std::optional<Delivery>> find(DeliveryId id);
  [[nodiscard]] Result<void> note_revived(const Delivery& settled, BatchReceipt& receipt);
  [[nodiscard]] Result<void> count_dead(std::int64_t sequence, int change, BatchReceipt& receipt);

  Writer::Session* session_;
  RequestShapeCache shapes_;
  std::string detail_;  // Kept between calls for its memory.
  Statement move_after_attempt_;
  Statement move_;
  Statement attempt_count_;
  Statement note_attempt_;
  Statement accept_all_the_same_;
  Statement insert_attempt_;
  Statement find_;
  Statement find_tenant_;
  Statement revive_;
  Statement cancel_;
  Statement tenant_;
  Statement save_circuit_;
};

}  // namespace postrider::sqlite
