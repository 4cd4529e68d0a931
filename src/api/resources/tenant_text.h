// What a tenant's id may look like: the same wherever one is made.
#pragma once

#include <string>
#include <string_view>

#include "api/json/field_reader.h"

namespace postrider::api {

/// It stands in paths, so it is made of what needs no escape there.
[[nodiscard]] bool is_tenant_id(std::string_view text);

/// The member of this name, when it is such an id; anything else is reported.
[[nodiscard]] Given<std::string> read_tenant_id(ObjectReader& reader, std::string_view name);

}  // namespace postrider::api
