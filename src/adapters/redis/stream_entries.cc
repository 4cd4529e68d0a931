#include "adapters/redis/stream_entries.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/json/json_text.h"

namespace postrider::redis {
namespace {

using Kind = Reply::Kind;

/// Moves names and values out of `list`. Returns nullopt if one is missing.
std::optional<std::vector<std::pair<std::string, std::string>>> take_fields(Reply& list) {
  const auto is_text = [](const Reply& item) { return item.kind == Kind::text; };
  if (list.kind != Kind::array || !std::ranges::all_of(list.items, is_text)) {
    return std::nullopt;
  }
  std::vector<std::pair<std::string, std::string>> fields;
  fields.reserve(list.items.size() / 2);
  for (std::size_t index = 0; index + 1 < list.items.size(); index += 2) {
    fields.emplace_back(std::move(list.items[index].text), std::move(list.items[index + 1].text));
  }
  return fields;
}

void add_members(SourceRecord& record, std::string_view json, std::string_view json_field) {
  const Result<std::vector<JsonMember>> members = read_json_envelope(json);
  if (!members) {
    record.problem =
        fmt::format("The field `{}` is not a JSON object. {}", json_field, members.error().message);
    return;
  }
  for (const JsonMember& member : *members) {
    record.fields.push_back({member.key, std::string{member.value}, true});
  }
}

}  // namespace

EntryBatch read_entries(Reply list, bool is_partial) {
  EntryBatch batch;
  batch.is_cut = is_partial || list.kind == Kind::dropped;
  for (Reply& item : list.items) {
    if (item.kind != Kind::array || item.items.size() != 2 || item.items[0].kind != Kind::text) {
      batch.is_cut = true;
      return batch;
    }
    StreamEntry entry{std::move(item.items[0].text), take_fields(item.items[1])};
    const bool is_deleted = item.items[1].kind == Kind::nil && !is_partial;
    if (!entry.fields && !is_deleted) {
      batch.is_cut = true;
      batch.cut_id = std::move(entry.id);
      return batch;
    }
    batch.entries.push_back(std::move(entry));
  }
  return batch;
}

Reply entries_of_read(Reply reply) {
  const Reply* stream = reply.at(0);
  if (stream == nullptr || stream->at(1) == nullptr) {
    return {};
  }
  return std::move(reply.items[0].items[1]);
}

ClaimReply read_claim(Reply reply) {
  ClaimReply claim;
  if (const Reply* cursor = reply.at(0); cursor != nullptr && cursor->kind == Kind::text) {
    claim.next_cursor = cursor->text;
  }
  if (reply.at(2) != nullptr) {
    for (Reply& id : reply.items[2].items) {
      claim.deleted_ids.push_back(std::move(id.text));
    }
  }
  if (reply.at(1) != nullptr) {
    claim.entries = std::move(reply.items[1]);
  }
  return claim;
}

SourceRecord to_record(StreamEntry entry, std::string_view json_field) {
  SourceRecord record;
  record.receipt = entry.id;
  if (!entry.fields) {
    record.problem = "The entry was deleted from the stream before it was read.";
    return record;
  }
  record.fields.push_back({std::string{entry_id_field}, std::move(entry.id), false});
  if (json_field.empty()) {
    for (auto& [name, value] : *entry.fields) {
      record.fields.push_back({std::move(name), std::move(value), false});
    }
    return record;
  }
  const auto found =
      std::ranges::find(*entry.fields, json_field, &std::pair<std::string, std::string>::first);
  if (found == entry.fields->end()) {
    record.problem = fmt::format("The entry has no field `{}`.", json_field);
  } else {
    add_members(record, found->second, json_field);
  }
  return record;
}

}  // namespace postrider::redis
