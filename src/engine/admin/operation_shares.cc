#include "engine/admin/operation_shares.h"

#include <fmt/format.h>

#include "engine/admin/operation_step.h"

namespace postrider {

ShareOwner owner_of(const Operation& operation) {
  return operation.tenant_id ? ShareOwner{ShareKind::tenant, *operation.tenant_id} : ShareOwner{};
}

Result<void> check_room(const std::vector<Operation>& unfinished, const Operation& operation,
                        const ShareOwner& starter) {
  Shares shares{share_rules(unfinished_max)};
  for (const Operation& other : unfinished) {
    shares.add(owner_of(other));
  }
  const bool by_operator = starter.kind == ShareKind::server_operator;
  const ShareOwner owner = by_operator ? starter : owner_of(operation);
  switch (shares.take(owner)) {
    case ShareVerdict::granted:
      return {};
    case ShareVerdict::owner_full:
      return fail(Errc::conflict,
                  fmt::format("The limit of {} is reached: {} unfinished operations of the "
                              "server's {}. Wait for one to end, or cancel one.",
                              describe(owner), shares.held_by(owner), unfinished_max));
    case ShareVerdict::server_full:
      break;
  }
  return fail(Errc::conflict,
              fmt::format("The server's limit of {} unfinished operations is reached. Wait for one "
                          "to end, or cancel one.",
                          unfinished_max));
}

bool may_begin(const std::vector<ShareOwner>& running, const ShareOwner& owner) {
  Shares shares{share_rules(running_max)};
  for (const ShareOwner& other : running) {
    shares.add(other);
  }
  return shares.take(owner) == ShareVerdict::granted;
}

}  // namespace postrider
