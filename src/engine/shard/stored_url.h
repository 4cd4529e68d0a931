// The target of a webhook that is stored. Its URL was checked then.
#pragma once

#include <string>

#include "core/net/target_url.h"

namespace postrider {

/// Fails if an earlier version stored a URL that is refused now.
[[nodiscard]] inline Result<TargetUrl> parse_stored_url(const std::string& url) {
  return parse_target_url(url, {.allow_http = true, .addresses = {.allow_private = true}});
}

}  // namespace postrider
