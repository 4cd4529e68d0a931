// How many operations a tenant may have, so that the others and the operator can have some too.
// Pure.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/model/operation.h"
#include "core/policy/shares.h"

namespace postrider {

/// Whose share the operation uses: that of the tenant it is restricted to, else the operator's.
[[nodiscard]] ShareOwner owner_of(const Operation& operation);

/// Whether `starter` may add the operation to those unfinished. Fails with conflict; the message
/// says whose limit is reached. The operator may add one for a tenant that has its share.
[[nodiscard]] Result<void> check_room(const std::vector<Operation>& unfinished,
                                      const Operation& operation, const ShareOwner& starter);

/// Whether a waiting operation may begin while those of `running` run.
[[nodiscard]] bool may_begin(const std::vector<ShareOwner>& running, const ShareOwner& owner);

}  // namespace postrider
