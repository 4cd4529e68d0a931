#include "api/json/headers_and_metadata.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/json/json_text.h"
#include "core/net/header_rules.h"

#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

constexpr std::size_t metadata_bytes_max = std::size_t{16} * 1024;

Headers::iterator find_header(Headers& headers, std::string_view name) {
  return std::ranges::find_if(headers,
                              [&](const auto& header) { return same_header(header.first, name); });
}

/// Refuses names that differ only in case: they are different in JSON but the same in HTTP.
bool has_duplicates(ObjectReader& reader, const std::vector<JsonMember>& members) {
  for (auto member = members.begin(); member != members.end(); ++member) {
    const auto is_same = [&](const JsonMember& other) {
      return same_header(member->key, other.key);
    };
    if (std::any_of(members.begin(), member, is_same)) {
      reader.refuse("headers", fmt::format("must not contain {} twice; header names are not "
                                           "case-sensitive.",
                                           member->key));
      return true;
    }
  }
  return false;
}

void merge_header(ObjectReader& object, const JsonMember& member, Headers& headers) {
  const auto stored = find_header(headers, member.key);
  if (member.value == "null") {
    if (stored != headers.end()) {
      headers.erase(stored);
    }
    return;
  }
  std::optional<std::string> value = decode_json_string(member.value);
  if (!value) {
    object.refuse(member.key, "must be a string, or null to remove the header.");
    return;
  }
  if (*value == hidden_value) {
    if (stored == headers.end()) {
      object.refuse(member.key,
                    fmt::format("is `{}`, which keeps the stored value, but no value is stored. "
                                "Send the value itself.",
                                hidden_value));
      return;
    }
    value = stored->second;
  }
  if (stored == headers.end()) {
    headers.emplace_back(member.key, *std::move(value));
  } else {
    *stored = {member.key, *std::move(value)};
  }
}

/// Applies `changes` to `members`. Members keep their order; new ones are appended.
std::string merge_members(std::vector<JsonMember> members, const std::vector<JsonMember>& changes) {
  for (const JsonMember& change : changes) {
    const auto stored = std::ranges::find(members, change.key, &JsonMember::key);
    if (stored == members.end()) {
      members.push_back(change);
    } else {
      stored->value = change.value;
    }
  }
  std::erase_if(members, [](const JsonMember& member) { return member.value == "null"; });
  std::string merged;
  JsonWriter writer{merged};
  writer.open_object();
  for (const JsonMember& member : members) {
    writer.member_raw(member.key, member.value);
  }
  writer.close_object();
  return merged;
}

bool has_null(const std::vector<JsonMember>& members) {
  return std::ranges::any_of(members, [](const auto& member) { return member.value == "null"; });
}

}  // namespace

void merge_headers(ObjectReader& reader, const Headers& defaults, Headers& headers) {
  JsonField<ObjectReader> object = reader.object("headers");
  if (object.is_null()) {
    headers = defaults;
  }
  if (!object.value || has_duplicates(reader, object.value->members())) {
    return;
  }
  for (const JsonMember& member : object.value->members()) {
    merge_header(*object.value, member, headers);
  }
}

void merge_metadata(ObjectReader& reader, const std::string& defaults, std::string& metadata) {
  const JsonField<std::string> field = reader.verbatim_object("metadata", metadata_bytes_max);
  if (field.is_null()) {
    metadata = defaults;
  }
  if (!field.value) {
    return;
  }
  const Result<std::vector<JsonMember>> changes = read_json_object(*field.value);
  const Result<std::vector<JsonMember>> stored = read_json_object(metadata);
  if (!changes || !stored) {
    return;  // Impossible: the whole body was checked before, and so was the stored text.
  }
  if (stored->empty() && !has_null(*changes)) {
    metadata = *field.value;  // Nothing to merge: keeps the text byte for byte.
    return;
  }
  std::string merged = merge_members(*stored, *changes);
  if (merged.size() > metadata_bytes_max) {
    reader.refuse("metadata",
                  fmt::format("would have {} bytes after the change; the limit is {} bytes.",
                              merged.size(), metadata_bytes_max));
    return;
  }
  metadata = std::move(merged);
}

}  // namespace postrider::api
