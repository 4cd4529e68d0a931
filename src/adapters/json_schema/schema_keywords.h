// Helpers that the readers of keywords share; see schema_builder.h.
#pragma once

#include <string_view>

#include "adapters/json_schema/schema_builder.h"

namespace postrider::json_schema {

struct CountKeywords {
  std::string_view min;
  std::string_view max;
};

[[nodiscard]] Result<Counts> read_counts(const SchemaBuilder& builder, Site site,
                                         CountKeywords keywords);

}  // namespace postrider::json_schema
