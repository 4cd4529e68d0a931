// The idempotency rules, once for every ledger (P3): which publishes of a group are new, which
// repeat an earlier one, and which fall with their group. Pure; the store's part is the lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "engine/intake/intake.h"
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

/// A group while it is planned.
struct PlannedGroup {
  std::vector<PublishPlan> plans;
  std::vector<bool> repeats_neighbour;  // With the same body.
  bool conflict = false;                // A key was reused with another body.
  /// Who of the group is to hold a key, by tenant and key.
  std::map<std::pair<std::string_view, std::string_view>, const Publish*> holders;

  void note(std::size_t index, const Duplicate& duplicate, bool of_neighbour) {
    conflict = conflict || !duplicate.same_body;
    repeats_neighbour[index] = of_neighbour && duplicate.same_body;
    plans[index] = duplicate;
  }

  /// Does `publish` repeat an earlier one of the group? If not, it holds its key from now on.
  [[nodiscard]] std::optional<Duplicate> repeat_or_hold(const Publish& publish,
                                                        const IdempotencyClaim& claim) {
    const Publish*& holder = holders[{publish.event.tenant_id, claim.key}];
    if (holder == nullptr || !holder->claim || !is_live(holder->claim->expires_at, publish)) {
      holder = &publish;
      return std::nullopt;
    }
    return Duplicate{.first_id = holder->event.id,
                     .first_deliveries = static_cast<std::uint32_t>(holder->deliveries.size()),
                     .same_body = holder->claim->body_digest == claim.body_digest,
                     .finished = holder->deliveries.empty()};
  }
};

}  // namespace detail

/// Plans one group. `lookup(tenant_id, key)` answers Result<std::optional<StoredClaim>>; an expired
/// claim counts as none. A key reused with another body inside an atomic group takes the whole
/// group down: what would have been stored is Refused, what repeats something stored stays a
/// Duplicate.
template <class Lookup>
[[nodiscard]] Result<std::vector<PublishPlan>> plan_group(std::span<const Publish> group,
                                                          Lookup&& lookup) {
  detail::PlannedGroup planned{.plans = std::vector<PublishPlan>(group.size(), Fresh{}),
                               .repeats_neighbour = std::vector<bool>(group.size(), false)};
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::optional<IdempotencyClaim>& claim = group[i].claim;
    if (!claim) {
      continue;
    }
    POSTRIDER_TRY(std::optional<StoredClaim> stored, lookup(group[i].event.tenant_id, claim->key));
    if (stored && is_live(stored->expires_at, group[i])) {
      stored->first.same_body = stored->body_digest == claim->body_digest;
      planned.note(i, stored->first, false);
    } else if (const auto repeat = planned.repeat_or_hold(group[i], *claim)) {
      planned.note(i, *repeat, true);
    }
  }
  const bool falls = planned.conflict && group.size() > 1;
  for (std::size_t i = 0; falls && i < group.size(); ++i) {
    if (std::holds_alternative<Fresh>(planned.plans[i]) || planned.repeats_neighbour[i]) {
      planned.plans[i] = Refused{};
    }
  }
  return std::move(planned.plans);
}

}  // namespace postrider
