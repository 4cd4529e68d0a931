// Reads e-mail addresses from JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"

namespace postrider::api {

/// Reports an error if the member is not an address.
[[nodiscard]] JsonField<std::string> read_email_address(ObjectReader& reader,
                                                        std::string_view name);

/// A list of at most channel_addresses_max different addresses.
[[nodiscard]] JsonField<std::vector<std::string>> read_email_addresses(ObjectReader& reader,
                                                                       std::string_view name);

/// Writes an array of strings.
void write_texts(JsonWriter& writer, const std::vector<std::string>& texts);

}  // namespace postrider::api
