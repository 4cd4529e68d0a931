// The idempotency rules of publishing, shared by all ledgers (P3): which publishes of a group are
// new, which repeat an earlier one, and which are refused with their group. Pure; the ledger
// supplies the lookup.
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
#include "core/base/time.h"
#include "engine/batch.h"
#include "engine/intake/publish.h"

namespace postrider {

/// A claim as stored.
struct StoredClaim {
  std::string body_digest;
  WallTime expires_at;
  Duplicate first;  // Without `same_body`, which plan_group sets.
};

/// A row of a source as the store tracks it.
struct StoredRow {
  std::uint32_t generation = 0;
  bool settled = false;  // Its final status has been written back.
  Duplicate first;       // The event that the row became, without `same_body`.
};

/// A row that is offered again, because the source did not learn that it was stored. Otherwise its
/// application has armed it again, and it is sent again.
[[nodiscard]] inline bool is_under_way(const StoredRow& stored, const SourceRow& offered) {
  return !stored.settled && offered.generation <= stored.generation;
}

/// The publish is new and is stored. It takes over its idempotency key and its row.
struct Fresh {};

using PublishPlan = std::variant<Fresh, Duplicate, Refused>;

/// A claim is live until its expiry, exclusive. The publish's created_at is the current time.
[[nodiscard]] inline bool is_live(WallTime expires_at, const Publish& publish) {
  return publish.event.created_at < expires_at;
}

/// The number of publishes at the front that are planned together: an atomic group, or one.
[[nodiscard]] inline std::size_t group_length(std::span<const Publish> publishes) {
  const std::uint64_t group = publishes.front().atomic_group;
  std::size_t length = 1;
  while (group != 0 && length < publishes.size() && publishes[length].atomic_group == group) {
    ++length;
  }
  return length;
}

namespace detail {

/// The state of planning one group.
struct PlannedGroup {
  std::vector<PublishPlan> plans;
  std::vector<bool> repeats_neighbour;  // Repeats another publish of the group, same body.
  bool conflict = false;                // A key was reused with another body.
  /// The publish of the group that holds a key, by tenant and key.
  std::map<std::pair<std::string_view, std::string_view>, const Publish*> holders;

  void note(std::size_t index, const Duplicate& duplicate, bool of_neighbour) {
    conflict = conflict || !duplicate.same_body;
    repeats_neighbour[index] = of_neighbour && duplicate.same_body;
    plans[index] = duplicate;
  }

  /// Returns the duplicate if `publish` repeats an earlier one of the group. Otherwise `publish`
  /// becomes the holder of its key.
  [[nodiscard]] std::optional<Duplicate> find_repeat_or_hold(const Publish& publish,
                                                             const IdempotencyClaim& claim) {
    const Publish*& holder = holders[{publish.event.tenant_id, claim.key}];
    if (holder == nullptr || !holder->claim || !is_live(holder->claim->expires_at, publish)) {
      holder = &publish;
      return std::nullopt;
    }
    return Duplicate{.first_id = holder->event.id,
                     .first_deliveries = static_cast<std::uint32_t>(delivery_count(*holder)),
                     .same_body = holder->claim->body_digest == claim.body_digest,
                     .finished = delivery_count(*holder) == 0};
  }
};

}  // namespace detail

/// Plans one group. `lookup(tenant_id, key)` returns Result<std::optional<StoredClaim>>; expired
/// claims are ignored. `lookup(row)` returns Result<std::optional<StoredRow>>; a tracked row
/// decides alone, because its application may arm it again with the same key. If a key is reused
/// with another body inside an atomic group, the whole group is refused: new publishes become
/// Refused, repeats of stored publishes stay Duplicates.
template <class Lookup>
[[nodiscard]] Result<std::vector<PublishPlan>> plan_group(std::span<const Publish> group,
                                                          Lookup&& lookup) {
  detail::PlannedGroup planned{.plans = std::vector<PublishPlan>(group.size(), Fresh{}),
                               .repeats_neighbour = std::vector<bool>(group.size(), false)};
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::optional<IdempotencyClaim>& claim = group[i].claim;
    if (group[i].row) {
      POSTRIDER_TRY(std::optional<StoredRow> stored, lookup(*group[i].row));
      if (stored && is_under_way(*stored, *group[i].row)) {
        stored->first.same_body = true;  // The row was taken as it was then.
        planned.note(i, stored->first, false);
      }
      if (stored) {
        continue;
      }
    }
    if (!claim) {
      continue;
    }
    POSTRIDER_TRY(std::optional<StoredClaim> stored, lookup(group[i].event.tenant_id, claim->key));
    if (stored && is_live(stored->expires_at, group[i])) {
      stored->first.same_body = stored->body_digest == claim->body_digest;
      planned.note(i, stored->first, false);
    } else if (const auto repeat = planned.find_repeat_or_hold(group[i], *claim)) {
      planned.note(i, *repeat, true);
    }
  }
  const bool refuse_group = planned.conflict && group.size() > 1;
  for (std::size_t i = 0; refuse_group && i < group.size(); ++i) {
    if (std::holds_alternative<Fresh>(planned.plans[i]) || planned.repeats_neighbour[i]) {
      planned.plans[i] = Refused{};
    }
  }
  return std::move(planned.plans);
}

}  // namespace postrider
