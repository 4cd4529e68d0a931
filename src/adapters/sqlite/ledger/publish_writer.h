// Writes the publishes of a batch: events, deliveries and idempotency claims. Store thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/claims.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"
#include "adapters/sqlite/ledger/fanout_writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session.
class PublishWriter {
 public:
  [[nodiscard]] static Result<PublishWriter> open(Writer::Session& session);

  /// Call within a transaction. Adds one receipt per publish, and the notes of large fan-outs.
  [[nodiscard]] Result<void> store(std::span<const Publish> publishes, FanoutWriter& fanouts,
                                   BatchReceipt& receipt);

 private:
  explicit PublishWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<void> store_group(std::span<const Publish> group, FanoutWriter& fanouts,
                                         BatchReceipt& receipt);
  [[nodiscard]] Result<Accepted> store_one(const Publish& publish, FanoutWriter& fanouts);
  [[nodiscard]] Result<Accepted> store_with_note(const Publish& publish, std::int64_t tenant,
                                                 FanoutWriter& fanouts);
  [[nodiscard]] Result<void> store_event(const Publish& publish, std::int64_t sequence,
                                         std::size_t deliveries);
  [[nodiscard]] Result<void> store_claim(const Publish& publish, std::int64_t event_sequence);
  [[nodiscard]] Result<void> store_delivery(const Delivery& delivery, const Publish& publish,
                                            std::int64_t event_sequence);
  [[nodiscard]] Result<std::optional<StoredClaim>> find_claim(const TenantId& tenant_id,
                                                              const std::string& key);
  [[nodiscard]] Result<std::optional<StoredRow>> find_row(const SourceRow& row);
  [[nodiscard]] Result<void> track_row(const Publish& publish, EventId event_id);
  [[nodiscard]] Result<void> track_duplicate(const Publish& publish, const Duplicate& duplicate);
  [[nodiscard]] Result<bool> is_finished(std::int64_t event_sequence, std::int64_t delivery_count);
  [[nodiscard]] Result<void> remove_expired_claims(std::span<const Publish> publishes);

  Writer::Session* session_;
  Statement insert_event_;
  Statement mark_fanned_out_;
  Statement insert_delivery_;
  Statement insert_claim_;
  Statement find_claim_;
  Statement find_waiting_;
  Statement find_row_;
  Statement track_row_;
  Statement remove_claims_;
};

}  // namespace postrider::sqlite
