// A JSON document as a tree in one flat array. Strings are decoded; numbers keep their text, so
// that nothing is rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_cursor.h"

namespace postrider::json_schema {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

struct JsonNode {
  JsonKind kind = JsonKind::null;
  bool truth = false;       // Of a boolean.
  std::uint32_t span = 1;   // This node and all nodes inside it, which follow it in the array.
  std::uint32_t count = 0;  // Elements of an array, members of an object.
  std::string_view key;     // Of a member of an object, decoded.
  std::string_view text;    // A decoded string, or a number as written.
};

/// The elements of an array or the values of an object, in order.
class JsonChildren {
 public:
  explicit JsonChildren(const JsonNode& parent) : parent_(parent) {}

  class Iterator {
   public:
    explicit Iterator(const JsonNode* at) : at_(at) {}

    const JsonNode& operator*() const { return *at_; }
    Iterator& operator++() {
      at_ += at_->span;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const JsonNode* at_;
  };

  [[nodiscard]] Iterator begin() const { return Iterator{&parent_ + 1}; }
  [[nodiscard]] Iterator end() const { return Iterator{&parent_ + parent_.span}; }

 private:
  const JsonNode& parent_;
};

/// Returns null if there is no such member.
[[nodiscard]] const JsonNode* find_member(const JsonNode& object, std::string_view key);

class JsonTree {
 public:
  /// `checked` must have passed check_json and must outlive this object.
  explicit JsonTree(std::string_view checked);

  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  [[nodiscard]] const JsonNode& root() const { return nodes_.front(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  void read_value(JsonCursor& cursor, std::string_view key);
  void read_children(JsonCursor& cursor, JsonNode& parent);
  [[nodiscard]] std::string_view decode(std::string_view content);

  std::vector<JsonNode> nodes_;
  std::deque<std::string> decoded_;  // Strings with escapes. A deque does not move its elements.
};

}  // namespace postrider::json_schema
