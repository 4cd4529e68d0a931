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

namespace postrider::sqlite {

/// Must be destroyed before the session.
class PublishWriter {
 public:
  [[nodiscard]] static Result<PublishWriter> open(Writer::Session& session);

  /// Call within a transaction. Returns one receipt per publish.
  [[nodiscard]] Result<std::vector<PublishReceipt>> store(std::span<const Publish> publishes);

 private:
  explicit PublishWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<void> store_group(std::span<const Publish> group,
                                         std::vector<PublishReceipt>& receipts);
  [[nodiscard]] Result<PublishReceipt> perform(const Publish& publish, const PublishPlan& plan);
  [[nodiscard]] Result<Accepted> store_one(const Publish& publish);
  [[nodiscard]] Result<void> store_event(const Publish& publish, std::int64_t sequence);
  [[nodiscard]] Result<void> store_delivery(const Delivery& delivery, const Publish& publish,
                                            std::int64_t event_sequence);
  [[nodiscard]] Result<std::optional<StoredClaim>> find_claim(const TenantId& tenant_id,
                                                              const std::string& key);
  [[nodiscard]] Result<bool> is_finished(std::int64_t event_sequence, std::int64_t delivery_count);
  [[nodiscard]] Result<void> remove_expired_claims(std::span<const Publish> publishes);

  Writer::Session* session_;
  Statement insert_event_;
  Statement insert_delivery_;
  Statement insert_claim_;
  Statement find_claim_;
  Statement find_waiting_;
  Statement remove_claims_;
};

}  // namespace postrider::sqlite
