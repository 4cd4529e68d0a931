// The version of a store's schema. Versions are numbered from 1.
#pragma once

#include <cstdint>

namespace postrider {

struct SchemaVersions {
  std::int64_t found = 0;   // The version of the store; 0: it has no tables.
  std::int64_t newest = 0;  // The newest version that this program supports.
};

}  // namespace postrider
