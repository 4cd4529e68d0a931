#include "api/http/http.h"

#include <algorithm>

namespace postrider::api {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string_view> first_value(const Pairs& pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
  if (found == pairs.end()) {
    return std::nullopt;
  }
  return found->second;
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
  return first_value(headers, name);
}

std::optional<std::string_view> HttpRequest::query_value(std::string_view name) const {
  return first_value(query, name);
}

}  // namespace postrider::api
