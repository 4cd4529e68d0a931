// Lists of webhooks that events are fanned out to, in parts. Store thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// The number of webhooks in a part. Must never change: it is part of the stored format.
constexpr std::int64_t webhooks_per_part = 512;

/// The parts that a transaction adds.
class FanoutParts {
 public:
  void add(std::int64_t list, const std::vector<WebhookId>& webhooks);
  void queue(Session& session) &&;

 private:
  Array lists_{ElementType::int8};
  Array numbers_{ElementType::int8};
  Array webhooks_{ElementType::bytea};
};

/// The parts that a transaction reads.
class FanoutLists {
 public:
  using PartKey = std::pair<std::int64_t, std::int64_t>;  // The list and the number of the part.

  /// Marks a part to be read. Does nothing if it was read before.
  void want(std::int64_t list, std::int64_t part);
  /// Queues the read of the marked parts. Returns nullopt if there is nothing to read.
  [[nodiscard]] std::optional<std::size_t> queue_read(Session& session);
  void take(const Rows& rows);

  /// The webhook at a place, whose part must have been read. Nullopt after the end of the list.
  [[nodiscard]] std::optional<WebhookId> webhook_at(std::int64_t list, std::int64_t place) const;
  /// The ids of a part that was read. Empty: there is no such part.
  [[nodiscard]] std::string_view part(std::int64_t list, std::int64_t part) const;

 private:
  std::map<PartKey, std::string> parts_;
  std::vector<PartKey> wanted_;
};

}  // namespace postrider::postgres
