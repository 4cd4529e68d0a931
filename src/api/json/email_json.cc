#include "api/json/email_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/email_address.h"
#include "core/model/notification_channel.h"

namespace postrider::api {

JsonField<std::string> read_email_address(ObjectReader& reader, std::string_view name) {
  const std::optional<std::string_view> slice = reader.raw(name);
  if (!slice || *slice == "null") {
    return {.present = slice.has_value(), .value = std::nullopt};
  }
  std::optional<std::string> address = decode_json_string(*slice);
  if (!address || !is_email_address(*address)) {
    reader.refuse(name, fmt::format("must be {}.", email_address_rule));
    return {};
  }
  return {.present = true, .value = std::move(address)};
}

JsonField<std::vector<std::string>> read_email_addresses(ObjectReader& reader,
                                                         std::string_view name) {
  const JsonField<std::vector<std::string_view>> items =
      reader.array(name, {0, static_cast<std::int64_t>(channel_addresses_max)});
  if (!items.value) {
    return {.present = items.present, .value = std::nullopt};
  }
  std::vector<std::string> addresses;
  for (std::size_t index = 0; index < items.value->size(); ++index) {
    std::optional<std::string> address = decode_json_string((*items.value)[index]);
    if (!address || !is_email_address(*address)) {
      reader.refuse(fmt::format("{}[{}]", name, index),
                    fmt::format("must be {}.", email_address_rule));
      return {};
    }
    if (std::ranges::find(addresses, *address) == addresses.end()) {
      addresses.push_back(*std::move(address));
    }
  }
  return {.present = true, .value = std::move(addresses)};
}

void write_texts(JsonWriter& writer, const std::vector<std::string>& texts) {
  writer.open_array();
  for (const std::string& text : texts) {
    writer.value(text);
  }
  writer.close_array();
}

}  // namespace postrider::api
