// The entries of a stream: from a reply of Redis to messages of a source. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/source/source_record.h"

#include "adapters/redis/reply.h"

namespace postrider::redis {

/// The field with the id of the entry, which is added to the fields that it has.
constexpr std::string_view entry_id_field = "entry_id";

struct StreamEntry {
  std::string id;
  /// nullopt: the entry was deleted from the stream while it was pending.
  std::optional<std::vector<std::pair<std::string, std::string>>> fields;

  bool operator==(const StreamEntry&) const = default;
};

struct EntryBatch {
  std::vector<StreamEntry> entries;
  /// The reply was too large, and entries are missing at its end.
  bool is_cut = false;
  std::string cut_id;  // Of the first entry that is missing. Empty: unknown.
};

/// `is_partial`: the rest of the reply was not read.
[[nodiscard]] EntryBatch read_entries(Reply list, bool is_partial = false);

/// The entries in the reply to XREADGROUP for one stream.
[[nodiscard]] Reply entries_of_read(Reply reply);

/// The reply to XAUTOCLAIM.
struct ClaimReply {
  std::string next_cursor = "0-0";
  Reply entries;
  std::vector<std::string> deleted_ids;  // Of entries that are no longer pending.
};
[[nodiscard]] ClaimReply read_claim(Reply reply);

/// `json_field`: the field whose JSON object is the message; empty: the fields are the message.
[[nodiscard]] SourceRecord to_record(StreamEntry entry, std::string_view json_field);

}  // namespace postrider::redis
