// The idempotency rules, once for every ledger (P3): which publishes of a group are new, which
// repeat an earlier one, and which fall with their group. Pure; the store's part is the lookup.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "engine/intake.h"
#include "ports/ledger.h"

namespace postrider {

/// What a stored claim says.
struct StoredClaim {
  std::string body_digest;
  WallTime expires_at;
  Duplicate first;  // `same_body` is not the store's to say.
};

/// A publish that is to be stored.
struct Fresh {};

/// What becomes of one publish.
using PublishPlan = std::variant<Fresh, Duplicate, Refused>;

/// A claim lives until its expiry, exclusive; the publish's own time is now.
[[nodiscard]] inline bool is_live(WallTime expires_at, const Publish& publish) {
  return publish.event.created_at < expires_at;
}

/// How many of the first publishes belong together: one, or the neighbours of one atomic group.
[[nodiscard]] inline std::size_t group_length(std::span<const Publish> publishes) {
  const std::uint64_t group = publishes.front().atomic_group;
  std::size_t length = 1;
  while (group != 0 && length < publishes.size() && publishes[length].atomic_group == group) {
    ++length;
  }
  return length;
}

namespace detail {

/// The latest earlier publish of the same group that holds the same key.
[[nodiscard]] inline const Publish* holder_in_group(std::span<const Publish> group,
                                                    std::size_t index) {
  const Publish& publish = group[index];
  for (std::size_t i = index; i-- > 0;) {
    const Publish& earlier = group[i];
    if (earlier.claim && earlier.claim->key == publish.claim->key &&
        earlier.event.tenant_id == publish.event.tenant_id &&
        is_live(earlier.claim->expires_at, publish)) {
      return &earlier;
    }
  }
  return nullptr;
}

[[nodiscard]] inline Duplicate repeat_of(const Publish& first, const Publish& repeat) {
  return {.first_id = first.event.id,
          .first_deliveries = static_cast<std::uint32_t>(first.deliveries.size()),
          .same_body = first.claim->body_digest == repeat.claim->body_digest,
          .finished = first.deliveries.empty()};
}

}  // namespace detail

/// Plans one group. `lookup(tenant_id, key)` answers Result<std::optional<StoredClaim>>; an expired
/// claim counts as none. A key reused with another body inside an atomic group takes the whole
/// group down: what would have been stored is Refused, what repeats something stored stays a
/// Duplicate.
template <class Lookup>
[[nodiscard]] Result<std::vector<PublishPlan>> plan_group(std::span<const Publish> group,
                                                          Lookup&& lookup) {
  std::vector<PublishPlan> plans(group.size(), Fresh{});
  std::vector<bool> repeats_neighbour(group.size(), false);
  bool conflict = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Publish& publish = group[i];
    if (!publish.claim) {
      continue;
    }
    POSTRIDER_TRY(std::optional<StoredClaim> stored,
                  lookup(publish.event.tenant_id, publish.claim->key));
    if (stored && is_live(stored->expires_at, publish)) {
      stored->first.same_body = stored->body_digest == publish.claim->body_digest;
      conflict = conflict || !stored->first.same_body;
      plans[i] = stored->first;
    } else if (const Publish* first = detail::holder_in_group(group, i)) {
      const Duplicate repeat = detail::repeat_of(*first, publish);
      conflict = conflict || !repeat.same_body;
      repeats_neighbour[i] = repeat.same_body;
      plans[i] = repeat;
    }
  }
  if (conflict && group.size() > 1) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (std::holds_alternative<Fresh>(plans[i]) || repeats_neighbour[i]) {
        plans[i] = Refused{};
      }
    }
  }
  return plans;
}

}  // namespace postrider
