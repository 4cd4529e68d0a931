// Shares of what requests hold for a while: places for live streams and for test sends. Any thread.
#pragma once

#include <memory>
#include <string_view>

#include "core/policy/shares.h"

#include "api/http/shared_shares.h"
#include "api/resources/context.h"

namespace postrider::api {

struct ApiShares {
  std::shared_ptr<SharedShares> streams =
      std::make_shared<SharedShares>(share_rules(StreamOptions{}.subscribers_max));
  std::shared_ptr<SharedShares> test_sends =
      std::make_shared<SharedShares>(share_rules(test_sends_at_once_max));
};

/// How a request is refused.
struct PlaceTexts {
  std::string_view owner_full;  // As in share_exceeded().
  std::string_view code;        // If others hold all places: the code and detail of the 503.
  std::string_view server_full;
};

/// Takes one place for the caller. Fails with 429 if the caller has its share, and with 503 if
/// there is no place left.
[[nodiscard]] Parsed<SharePlace> take_place(const std::shared_ptr<SharedShares>& shares,
                                            const Caller& caller, const PlaceTexts& texts);

/// Takes a place for a request to a receiver that the caller waits for.
[[nodiscard]] Parsed<SharePlace> take_test_place(const Context& context);

}  // namespace postrider::api
