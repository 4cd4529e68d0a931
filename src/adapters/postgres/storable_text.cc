#include "adapters/postgres/storable_text.h"

#include <algorithm>

#include "core/json/json_string.h"
#include "core/request/payload_format.h"

namespace postrider::postgres {
namespace {

bool is_well_formed(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return scan_json_string(std::string_view{json}.substr(1)).error.empty();
}

}  // namespace

std::string storable_text(std::string_view text, bool is_utf8) {
  const bool keeps_all = is_utf8 && is_well_formed(text);
  std::string stored{text};
  std::ranges::replace_if(
      stored, [&](char c) { return c == '\0' || (!keeps_all && (c & 0x80) != 0); }, '?');
  return stored;
}

std::string array_text(const std::vector<std::string>& texts) {
  std::string array = "{";
  for (const std::string& text : texts) {
    array += array.size() > 1 ? ",\"" : "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        array += '\\';
      }
      array += c;
    }
    array += '"';
  }
  return array + "}";
}

}  // namespace postrider::postgres
