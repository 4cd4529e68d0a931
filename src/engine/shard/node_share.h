// The part of the limits that one node may use when several nodes work the webhooks of a pool (P7).
// Pure, and the same for every node, so that nodes need not agree on anything but their number.
//
// docs/decisions/0042-many-nodes.md
#pragma once

#include <cstdint>

#include "core/policy/token_bucket.h"
#include "engine/shard/allowance.h"

namespace postrider {

/// The shares of all nodes together do not exceed the whole: neither the slots of a tenant and of a
/// host, nor the rates and their bursts. But a share is at least one slot and a burst of one, so a
/// limit that is smaller than the number of nodes becomes one for each node. Limits that are not
/// set stay so. Zero nodes count as one.
///
/// The slots in total, and those that retries never take, are not divided: they follow from the
/// memory and the descriptors of each machine.
[[nodiscard]] AllowanceLimits share_of(const AllowanceLimits& whole, std::uint32_t nodes);

/// The rate is divided exactly: in the same period if the count can be divided, otherwise by a
/// longer period.
[[nodiscard]] RateLimit share_of(const RateLimit& whole, std::uint32_t nodes);

}  // namespace postrider
