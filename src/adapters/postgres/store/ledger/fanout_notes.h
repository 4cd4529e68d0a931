// The notes that the publishes of a batch leave for Ledger::fan_out. Store thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/intake/publish.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/ledger/fanout_lists.h"

namespace postrider::postgres {

/// `publishes` must outlive this object.
class FanoutNotes {
 public:
  explicit FanoutNotes(std::span<const Publish> publishes);

  void queue_read(Session& session);
  void take(const std::vector<Rows>& answers);

  /// Whether the deliveries of the publish must be made from a note.
  [[nodiscard]] bool needs_note(const Publish& publish) const;
  /// Adds the note of the event with this sequence. Returns the number of deliveries. Notes share
  /// their lists.
  std::uint32_t add(const Publish& publish, std::int64_t sequence);

  void queue_writes(Session& session) &&;

 private:
  std::set<TenantId> ordered_;     // Tenants that publish in order.
  std::set<TenantId> have_notes_;  // Those of them with a note, stored or of this batch.
  std::optional<std::size_t> answer_;
  std::map<const std::vector<WebhookId>*, std::int64_t> lists_;  // The list's number.
  FanoutParts parts_;
  Array events_{ElementType::int8};
  Array event_ids_{ElementType::uuid};
  Array tenant_ids_{ElementType::text};
  Array list_numbers_{ElementType::int8};
  Array remaining_{ElementType::int8};
  Array dues_{ElementType::int8};
  Array chosen_{ElementType::bytea};
};

}  // namespace postrider::postgres
