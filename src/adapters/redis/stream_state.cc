#include "adapters/redis/stream_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/parse_number.h"

namespace postrider::redis {
namespace {

using Kind = Reply::Kind;

constexpr std::uint64_t clock_time_min = 1'000'000'000'000;  // In 2001.

/// A map, which Redis sends as a list of names and values. Returns nullptr if it has no such name.
const Reply* value_of(const Reply& map, std::string_view name) {
  for (std::size_t index = 0; index + 1 < map.items.size(); index += 2) {
    if (map.items[index].text == name) {
      return &map.items[index + 1];
    }
  }
  return nullptr;
}

std::optional<std::uint64_t> count_of(const Reply& map, std::string_view name) {
  const Reply* found = value_of(map, name);
  const bool is_count = found != nullptr && found->kind == Kind::integer && found->integer >= 0;
  return is_count ? std::optional{static_cast<std::uint64_t>(found->integer)} : std::nullopt;
}

}  // namespace

std::optional<StreamId> StreamId::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> time = parse_number<std::uint64_t>(text.substr(0, dash));
  const std::optional<std::uint64_t> sequence = parse_number<std::uint64_t>(text.substr(dash + 1));
  return time && sequence ? std::optional{StreamId{*time, *sequence}} : std::nullopt;
}

std::string StreamId::to_string() const { return fmt::format("{}-{}", time, sequence); }

std::vector<GroupState> read_groups(const Reply& reply) {
  std::vector<GroupState> groups;
  for (const Reply& map : reply.items) {
    const Reply* name = value_of(map, "name");
    const Reply* last = value_of(map, "last-delivered-id");
    groups.push_back({
        .name = name == nullptr ? std::string{} : name->text,
        .pending = count_of(map, "pending").value_or(0),
        .last_delivered =
            last == nullptr ? StreamId{} : StreamId::parse(last->text).value_or(StreamId{}),
        .lag = count_of(map, "lag"),
    });
  }
  return groups;
}

std::optional<StreamId> lowest_pending(const Reply& reply) {
  const Reply* lowest = reply.at(1);
  return lowest == nullptr ? std::nullopt : StreamId::parse(lowest->text);
}

std::optional<Millis> age_of(const StreamId& id, const Reply& time) {
  if (time.at(1) == nullptr || id.time < clock_time_min) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> seconds = parse_number<std::uint64_t>(time.items[0].text);
  const std::optional<std::uint64_t> micros = parse_number<std::uint64_t>(time.items[1].text);
  if (!seconds || !micros) {
    return std::nullopt;
  }
  const std::uint64_t now = *seconds * 1'000 + *micros / 1'000;
  return Millis{now > id.time ? now - id.time : 0};
}

std::optional<StreamId> trim_floor(const std::vector<GroupState>& groups,
                                   const std::vector<std::optional<StreamId>>& lowest_pending) {
  std::optional<StreamId> floor;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const GroupState& group = groups[index];
    if (group.pending > 0 && !lowest_pending[index]) {
      return std::nullopt;
    }
    const StreamId done =
        std::min(group.last_delivered, lowest_pending[index].value_or(group.last_delivered));
    floor = floor ? std::min(*floor, done) : done;
  }
  return floor;
}

}  // namespace postrider::redis
