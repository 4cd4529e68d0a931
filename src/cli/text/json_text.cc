#include "cli/text/json_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/text/webhook_text.h"

namespace postrider::cli {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

bool is_table(const json::value& value) {
  return value.is_array() && !value.get_array().empty() && value.get_array().front().is_object();
}

void collect(Fields& fields, const json::object& object, const std::string& prefix) {
  for (const auto& [key, value] : object) {
    const std::string name = prefix + std::string{key.data(), key.size()};
    if (value.is_object()) {
      collect(fields, value.get_object(), name + ".");
    } else if (!is_table(value)) {
      fields.emplace_back(name, text_of(value));
    }
  }
}

}  // namespace

const json::value* member(const json::value& value, std::string_view path) {
  const json::value* found = &value;
  while (found != nullptr && !path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    const json::object* const object = found->if_object();
    found = object != nullptr ? object->if_contains(name) : nullptr;
  }
  return found;
}

std::string text_of(const json::value& value) {
  if (value.is_null()) {
    return {};
  }
  if (const json::string* const text = value.if_string()) {
    std::string shown = without_controls({text->data(), text->size()});
    std::ranges::replace(shown, '\n', ' ');
    return shown;
  }
  if (value.is_array() && !is_table(value)) {
    std::string list;
    for (const json::value& item : value.get_array()) {
      list += (list.empty() ? "" : ", ") + text_of(item);
    }
    return list;
  }
  if (value.is_double()) {
    return fmt::format("{}", value.get_double());  // 0.5 instead of 5E-1.
  }
  return json::serialize(value);
}

std::string text_at(const json::value& value, std::string_view path) {
  const json::value* const found = member(value, path);
  return found != nullptr ? text_of(*found) : std::string{};
}

std::uint64_t count_at(const json::value& value, std::string_view path) {
  const json::value* const found = member(value, path);
  if (found != nullptr && found->is_uint64()) {
    return found->get_uint64();
  }
  const bool positive = found != nullptr && found->is_int64() && found->get_int64() > 0;
  return positive ? static_cast<std::uint64_t>(found->get_int64()) : 0;
}

std::string fields_text(const json::value& object) {
  Fields fields;
  if (object.is_object()) {
    collect(fields, object.get_object(), "");
  }
  std::erase_if(fields, [](const auto& field) { return field.second.empty(); });
  std::size_t width = 0;
  for (const auto& [name, value] : fields) {
    width = std::max(width, name.size());
  }
  std::string text;
  for (const auto& [name, value] : fields) {
    text += fmt::format("{:<{}}  {}\n", name, width, value);
  }
  return text;
}

}  // namespace postrider::cli
