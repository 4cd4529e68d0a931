#include "adapters/json_schema/json_tree.h"

#include "core/json/json_string.h"

namespace postrider::json_schema {
namespace {

JsonKind kind_of(char first) {
  switch (first) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 'n':
      return JsonKind::null;
    case 't':
    case 'f':
      return JsonKind::boolean;
    default:
      return JsonKind::number;
  }
}

}  // namespace

const JsonNode* find_member(const JsonNode& object, std::string_view key) {
  for (const JsonNode& member : JsonChildren{object}) {
    if (member.key == key) {
      return &member;
    }
  }
  return nullptr;
}

JsonTree::JsonTree(std::string_view checked) {
  JsonCursor cursor{checked};
  read_value(cursor, {});
}

std::string_view JsonTree::decode(std::string_view content) {
  if (content.find('\\') == std::string_view::npos) {
    return content;
  }
  return decoded_.emplace_back(decode_json_content(content));
}

// Recurses as deep as the document, at most json_depth_max.
void JsonTree::read_value(JsonCursor& cursor, std::string_view key) {
  const std::size_t index = nodes_.size();
  JsonNode node{.kind = kind_of(cursor.peek()), .key = key};
  nodes_.push_back(node);
  if (node.kind == JsonKind::object || node.kind == JsonKind::array) {
    read_children(cursor, node);
    node.span = static_cast<std::uint32_t>(nodes_.size() - index);
  } else {
    const std::string_view scalar = cursor.take_scalar();
    node.truth = scalar.starts_with('t');
    node.text =
        node.kind == JsonKind::string ? decode(scalar.substr(1, scalar.size() - 2)) : scalar;
  }
  nodes_[index] = node;
}

void JsonTree::read_children(JsonCursor& cursor, JsonNode& parent) {
  cursor.enter();
  if (parent.kind == JsonKind::array) {
    for (; cursor.next_element(); ++parent.count) {
      read_value(cursor, {});
    }
    return;
  }
  for (auto key = cursor.next_key(); key; key = cursor.next_key()) {
    read_value(cursor, decode(*key));
    ++parent.count;
  }
}

}  // namespace postrider::json_schema
