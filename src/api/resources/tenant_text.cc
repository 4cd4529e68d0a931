#include "api/resources/tenant_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::api {
namespace {

constexpr std::size_t id_length_max = 128;

}  // namespace

bool is_tenant_id(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"._:@-"}.find(c) != std::string_view::npos;
  };
  const bool is_dots = text == "." || text == "..";
  return !text.empty() && text.size() <= id_length_max && !is_dots &&
         std::ranges::all_of(text, fits);
}

JsonField<std::string> read_tenant_id(ObjectReader& reader, std::string_view name) {
  const std::optional<std::string_view> slice = reader.raw(name);
  if (!slice || *slice == "null") {
    return {.present = slice.has_value(), .value = std::nullopt};
  }
  std::optional<std::string> id = decode_json_string(*slice);
  if (!id || !is_tenant_id(*id)) {
    reader.refuse(
        name, fmt::format("must be 1 to {} letters, digits and any of `._:@-`.", id_length_max));
    return {};
  }
  return {.present = true, .value = std::move(id)};
}

}  // namespace postrider::api
