// Publishes that the store refuses as Outdated, because another server has changed the catalogue.
#pragma once

namespace postrider {

/// Tries of one publish. All but the first follow a change of the catalogue, so that more are not
/// expected even while somebody changes many webhooks.
constexpr int publish_tries_max = 20;

}  // namespace postrider
