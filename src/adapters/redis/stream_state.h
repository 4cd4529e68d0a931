// What Redis knows about a stream and its consumer groups, and what follows from it: the lag, and
// how far the stream can be trimmed. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

#include "adapters/redis/reply.h"

namespace postrider::redis {

/// The id of an entry. By default Redis takes the first part from its clock, in milliseconds.
struct StreamId {
  std::uint64_t time = 0;
  std::uint64_t sequence = 0;

  /// Returns nullopt if the text is not an id.
  [[nodiscard]] static std::optional<StreamId> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  auto operator<=>(const StreamId&) const = default;
};

struct GroupState {
  std::string name;
  std::uint64_t pending = 0;
  StreamId last_delivered;
  std::optional<std::uint64_t> lag;  // nullopt: unknown to Redis, or before Redis 7.
};

/// The reply to XINFO GROUPS.
[[nodiscard]] std::vector<GroupState> read_groups(const Reply& reply);

/// The lowest id in the reply to XPENDING with a group only.
[[nodiscard]] std::optional<StreamId> lowest_pending(const Reply& reply);

/// The age of an entry at the time in the reply to TIME. Returns nullopt if the id was not taken
/// from a clock.
[[nodiscard]] std::optional<Millis> age_of(const StreamId& id, const Reply& time);

/// All entries with lower ids have been acknowledged by every group. Returns nullopt if that is not
/// known. `lowest_pending`: for each group.
[[nodiscard]] std::optional<StreamId> trim_floor(
    const std::vector<GroupState>& groups,
    const std::vector<std::optional<StreamId>>& lowest_pending);

}  // namespace postrider::redis
