#include "adapters/json_schema/canonical_json.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/decimal.h"

#include "adapters/json_schema/steps.h"

namespace postrider::json_schema {
namespace {

/// The length comes first, so that no text is the beginning of another.
void append_text(std::string& out, std::string_view text) {
  out += '"';
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

class Writer {
 public:
  Writer(std::string& out, std::size_t bytes_max, StepBudget& budget)
      : out_(out), end_(out.size() + bytes_max), budget_(budget) {}

  /// Returns false if there is no room. Recurses as deep as the document, at most json_depth_max.
  bool write(const JsonNode& value) {
    spend(budget_, 2);
    // A string is longer than its content. An array or object has a byte or more for each node.
    const bool is_string = value.kind == JsonKind::string;
    if (!has_room(is_string ? value.text.size() : value.span)) {
      return false;
    }
    spend(budget_, value.text.size() / (is_string ? bytes_per_step : 1));
    switch (value.kind) {
      case JsonKind::null:
        out_ += 'n';
        break;
      case JsonKind::boolean:
        out_ += value.truth ? 't' : 'f';
        break;
      case JsonKind::number:
        out_ += '#';
        append_canonical_json_number(out_, value.text);
        out_ += ';';
        break;
      case JsonKind::string:
        append_text(out_, value.text);
        break;
      case JsonKind::array:
        return write_array(value);
      case JsonKind::object:
        return write_object(value);
    }
    return has_room(0);
  }

 private:
  [[nodiscard]] bool has_room(std::size_t bytes) const { return out_.size() + bytes <= end_; }

  bool write_array(const JsonNode& array) {
    out_ += '[';
    for (const JsonNode& element : JsonChildren{array}) {
      if (!write(element)) {
        return false;
      }
    }
    out_ += ']';
    return has_room(0);
  }

  bool write_object(const JsonNode& object) {
    std::vector<const JsonNode*> members;
    members.reserve(object.count);
    std::size_t key_bytes = 0;
    for (const JsonNode& member : JsonChildren{object}) {
      members.push_back(&member);
      key_bytes += member.key.size();
    }
    spend(budget_, members.size());
    if (!has_room(key_bytes)) {
      return false;
    }
    // Sorting compares each key about as often as the number of keys has bits.
    spend(budget_, (members.size() + key_bytes / bytes_per_step) * std::bit_width(members.size()));
    std::ranges::sort(members, {}, [](const JsonNode* member) { return member->key; });
    out_ += '{';
    for (const JsonNode* member : members) {
      append_text(out_, member->key);
      if (!write(*member)) {
        return false;
      }
    }
    out_ += '}';
    return has_room(0);
  }

  std::string& out_;
  std::size_t end_;
  StepBudget& budget_;
};

}  // namespace

bool append_canonical(std::string& out, const JsonNode& value, std::size_t bytes_max,
                      StepBudget& budget) {
  return Writer{out, bytes_max, budget}.write(value);
}

}  // namespace postrider::json_schema
