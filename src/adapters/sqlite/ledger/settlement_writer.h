// Writes the settlements, revivals and cancels of a batch. Store thread only.
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

/// Must be destroyed before the session. Call all members within a transaction.
class SettlementWriter {
 public:
  [[nodiscard]] static Result<SettlementWriter> open(Writer::Session& session);

  /// Updates the totals in `receipt`, as do the functions below.
  [[nodiscard]] Result<void> settle(const Settlement& settlement, BatchReceipt& receipt);

  /// The outer result is a store failure, the inner one the answer to the caller.
  [[nodiscard]] Result<Result<Delivery>> revive(const Revive& order, BatchReceipt& receipt);
  [[nodiscard]] Result<Result<Delivery>> cancel(const Cancel& order, BatchReceipt& receipt);

 private:
  SettlementWriter(Writer::Session& session, RequestShapeCache shapes)
      : session_(&session), shapes_(std::move(shapes)) {}

  [[nodiscard]] Result<bool> apply(const Settlement& settlement, std::uint32_t revivals);
  [[nodiscard]] Result<void> finish(const Settlement& settlement, const Delivery& stored,
                                    BatchReceipt& receipt);
  [[nodiscard]] Result<void> settle_unapplied(const Settlement& settlement, BatchReceipt& receipt);
  [[nodiscard]] Result<bool> record_attempt(const Settlement& settlement);
  [[nodiscard]] Result<void> add_to_stats(const Settlement& settlement, const Attempt* attempt,
                                          std::optional<DeliveryState> reached);
  [[nodiscard]] Result<void> remove_from_stats(const Delivery& delivery);
  [[nodiscard]] Result<std::optional<OperationId>> operation_of(std::int64_t sequence);
  [[nodiscard]] Result<std::int64_t> tenant_of(const Delivery& delivery);
  [[nodiscard]] Result<std::optional<Delivery>> find(DeliveryId id);
  [[nodiscard]] Result<PriorityCounts*> waiting_change_of(const Delivery& delivery,
                                                          BatchReceipt& receipt);
  [[nodiscard]] Result<TenantId> count_dead_letter(std::int64_t sequence, int change,
                                                   BatchReceipt& receipt);

  Writer::Session* session_;
  RequestShapeCache shapes_;
  std::string detail_;  // A member to reuse its memory.
  Statement apply_with_attempt_;
  Statement apply_;
  Statement set_last_attempt_;
  Statement succeed_cancelled_;
  Statement insert_attempt_;
  Statement find_;
  Statement find_tenant_;
  Statement revive_;
  Statement cancel_;
  Statement operation_;
  Statement completion_;
  Statement tenant_;
  Statement unsettle_rows_;
};

}  // namespace postrider::sqlite
