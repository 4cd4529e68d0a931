// Refuses a sign-in that a page of another site makes in a visitor's browser: it would sign the
// visitor in to an account of the attacker's choice.
#pragma once

#include "api/resources/context.h"

namespace postrider::api {

/// Fails with 403 if a browser says that the request comes from another origin. Other clients send
/// neither header. `Sec-Fetch-Site` decides; without it `Origin` must name the Host or the public
/// URL.
[[nodiscard]] Parsed<void> check_same_origin(const ApiOptions& options, const HttpRequest& request);

}  // namespace postrider::api
