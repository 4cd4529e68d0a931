// Counts the changes of the catalogue (webhooks, keys, tenants, event types, channels, operations)
// that several nodes share, in the order in which they were committed.
#pragma once

#include <cstdint>

namespace postrider {

using CatalogVersion = std::int64_t;

}  // namespace postrider
