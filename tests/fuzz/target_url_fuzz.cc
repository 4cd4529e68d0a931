// Any text: an accepted URL has a host, a port and an authority.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/assert.h"
#include "core/net/target_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  postrider::UrlPolicy policy;
  policy.allow_http = true;
  if (const auto url = postrider::parse_target_url(text, policy)) {
    POSTRIDER_ASSERT(!url->host.empty());
    POSTRIDER_ASSERT(url->port != 0);
    POSTRIDER_ASSERT(!url->authority().empty());
  }
  return 0;
}
