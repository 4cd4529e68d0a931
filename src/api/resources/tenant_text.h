// The syntax of tenant ids.
#pragma once

#include <string>
#include <string_view>

#include "api/json/field_reader.h"

namespace postrider::api {

/// An id is used in paths, so it consists of characters that need no escaping there.
[[nodiscard]] bool is_tenant_id(std::string_view text);

/// Reads the member as a tenant id; reports an error if it is not one.
[[nodiscard]] JsonField<std::string> read_tenant_id(ObjectReader& reader, std::string_view name);

}  // namespace postrider::api
