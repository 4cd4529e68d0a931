#include "adapters/redis/parking.h"

#include <utility>

#include "adapters/redis/failure_text.h"
#include "adapters/redis/stream_entries.h"

namespace postrider::redis {
namespace {

/// The originals, in the order of `rejected`. Empty: deleted, or too large.
Result<std::vector<EntryBatch>> read_originals(Connection& connection, std::string_view stream,
                                               const std::vector<RejectedEntry>& rejected) {
  std::vector<Command> commands;
  for (const RejectedEntry& entry : rejected) {
    if (entry.has_fields) {
      commands.push_back({"XRANGE", stream, entry.id, entry.id});
    }
  }
  POSTRIDER_TRY(std::vector<Reply> replies, connection.run_all(commands));
  std::vector<EntryBatch> originals(rejected.size());
  auto reply = replies.begin();
  for (std::size_t index = 0; index < rejected.size(); ++index) {
    if (rejected[index].has_fields) {
      POSTRIDER_TRY(Reply list, expect_success(std::move(*reply++), stream));
      originals[index] = read_entries(std::move(list));
    }
  }
  return originals;
}

}  // namespace

Result<void> park_entries(Connection& connection, std::string_view stream, std::string_view parking,
                          const std::vector<RejectedEntry>& rejected) {
  if (rejected.empty()) {
    return {};
  }
  POSTRIDER_TRY(const std::vector<EntryBatch> originals,
                read_originals(connection, stream, rejected));
  std::vector<Command> commands;
  for (std::size_t index = 0; index < rejected.size(); ++index) {
    Command command{
        "XADD",        parking,           "*", "rejected_reason", rejected[index].reason,
        "rejected_id", rejected[index].id};
    for (const StreamEntry& original : originals[index].entries) {
      for (const auto& [name, value] : *original.fields) {
        command.insert(command.end(), {name, value});
      }
    }
    commands.push_back(std::move(command));
  }
  POSTRIDER_TRY(std::vector<Reply> replies, connection.run_all(commands));
  for (Reply& reply : replies) {
    POSTRIDER_CHECK(expect_success(std::move(reply), parking));
  }
  return {};
}

}  // namespace postrider::redis
