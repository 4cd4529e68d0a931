#include "adapters/redis/consumer_group.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/redis/failure_text.h"
#include "adapters/redis/stream_entries.h"
#include "adapters/redis/stream_state.h"

namespace postrider::redis {
namespace {

constexpr std::string_view highest_id = "18446744073709551615-18446744073709551615";

bool is_missing(const Reply& reply) {
  return reply.is_error("NOGROUP") || reply.is_error("UNBLOCKED") ||
         reply.text.starts_with("ERR no such key");
}

/// The oldest entry after `id`.
Result<std::optional<StreamId>> next_id(Connection& connection, std::string_view stream,
                                        const StreamId& id) {
  const std::string after = "(" + id.to_string();
  POSTRIDER_TRY(const Reply reply, connection.run({"XRANGE", stream, after, "+", "COUNT", "1"}));
  const Reply* entry = reply.at(0);
  const Reply* found = entry == nullptr ? nullptr : entry->at(0);
  return found == nullptr ? std::nullopt : StreamId::parse(found->text);
}

}  // namespace

/// Reads after the highest id, which returns nothing and needs the permissions that reading needs.
Result<void> ConsumerGroup::open(Connection& connection) const {
  POSTRIDER_TRY(const Reply reply, connection.run({"XREADGROUP", "GROUP", name, consumer, "COUNT",
                                                   "1", "STREAMS", stream, highest_id}));
  POSTRIDER_CHECK(restore(connection, reply));
  return {};
}

Result<void> ConsumerGroup::create(Connection& connection) const {
  POSTRIDER_TRY(Reply reply, connection.run({"XGROUP", "CREATE", stream, name, "0", "MKSTREAM"}));
  if (!reply.is_error("BUSYGROUP")) {  // Another node was faster.
    POSTRIDER_CHECK(expect_success(std::move(reply), stream));
  }
  return {};
}

Result<bool> ConsumerGroup::restore(Connection& connection, const Reply& reply) const {
  if (is_missing(reply)) {
    POSTRIDER_CHECK(create(connection));
    return true;
  }
  if (reply.is_error()) {
    return fail(Errc::unavailable, explain_error(reply, stream));
  }
  return false;
}

Result<Reply> ConsumerGroup::read_own(Connection& connection, std::size_t count_max) const {
  const std::string count = fmt::format("{}", count_max);
  return connection.run(
      {"XREADGROUP", "GROUP", name, consumer, "COUNT", count, "STREAMS", stream, "0"});
}

Result<std::optional<Reply>> ConsumerGroup::read_new(Connection& connection,
                                                     const ReceiveOptions& options,
                                                     const Signal& interrupt) const {
  const std::string count = fmt::format("{}", options.records_max);
  // Redis waits forever if the time is zero.
  const std::string wait = fmt::format("{}", std::max<Millis::rep>(options.wait_max.count(), 1));
  return connection.run_blocking({"XREADGROUP", "GROUP", name, consumer, "COUNT", count, "BLOCK",
                                  wait, "STREAMS", stream, ">"},
                                 options.wait_max, interrupt);
}

Result<Reply> ConsumerGroup::claim(Connection& connection, Millis idle_min, std::string_view cursor,
                                   std::size_t count_max) const {
  const std::string idle = fmt::format("{}", idle_min.count());
  const std::string count = fmt::format("{}", count_max);
  return connection.run({"XAUTOCLAIM", stream, name, consumer, idle, cursor, "COUNT", count});
}

Result<void> ConsumerGroup::acknowledge(Connection& connection,
                                        const std::vector<std::string_view>& ids) const {
  if (ids.empty()) {
    return {};
  }
  Command command{"XACK", stream, name};
  command.insert(command.end(), ids.begin(), ids.end());
  POSTRIDER_TRY(Reply reply, connection.run(command));
  POSTRIDER_CHECK(expect_success(std::move(reply), stream));
  return {};
}

Result<void> ConsumerGroup::trim(Connection& connection) const {
  POSTRIDER_TRY(Reply reply, connection.run({"XINFO", "GROUPS", stream}));
  if (is_missing(reply)) {
    return {};
  }
  POSTRIDER_TRY(const Reply known, expect_success(std::move(reply), stream));
  const std::vector<GroupState> groups = read_groups(known);
  std::vector<Command> commands;
  commands.reserve(groups.size());
  for (const GroupState& group : groups) {
    commands.push_back({"XPENDING", stream, group.name});
  }
  POSTRIDER_TRY(const std::vector<Reply> pending, connection.run_all(commands));
  std::vector<std::optional<StreamId>> lowest;
  std::ranges::transform(pending, std::back_inserter(lowest), lowest_pending);
  if (const std::optional<StreamId> floor = trim_floor(groups, lowest)) {
    const std::string id = floor->to_string();
    POSTRIDER_TRY(Reply trimmed, connection.run({"XTRIM", stream, "MINID", id}));
    POSTRIDER_CHECK(expect_success(std::move(trimmed), stream));
  }
  return {};
}

Result<SourceLag> ConsumerGroup::lag(Connection& connection) const {
  POSTRIDER_TRY(
      std::vector<Reply> replies,
      connection.run_all({{"XINFO", "GROUPS", stream}, {"XPENDING", stream, name}, {"TIME"}}));
  if (is_missing(replies[0]) || is_missing(replies[1])) {
    return SourceLag{};
  }
  POSTRIDER_TRY(const Reply known, expect_success(std::move(replies[0]), stream));
  const std::vector<GroupState> groups = read_groups(known);
  const auto group = std::ranges::find(groups, name, &GroupState::name);
  if (group == groups.end()) {
    return SourceLag{};
  }
  SourceLag lag;
  if (group->lag) {
    lag.messages = *group->lag + group->pending;
  }
  std::optional<StreamId> oldest = lowest_pending(replies[1]);
  if (!oldest && group->lag.value_or(1) > 0) {
    POSTRIDER_TRY(oldest, next_id(connection, stream, group->last_delivered));
  }
  if (oldest) {
    lag.oldest_age = age_of(*oldest, replies[2]);
  }
  return lag;
}

}  // namespace postrider::redis
