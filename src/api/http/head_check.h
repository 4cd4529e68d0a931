// The decision about a request when its header has arrived: before its body is read, so that a
// client that may not send one cannot make the server hold it.
#pragma once

#include <cstddef>
#include <functional>

#include <boost/asio/awaitable.hpp>
#include <tl/expected.hpp>

#include "core/policy/shares.h"

#include "api/http/http.h"
#include "api/http/problem.h"

namespace postrider::api {

struct BodyPermit {
  std::size_t body_bytes_max = 0;  // The listener's limit applies as well.
  ShareOwner owner;                // Whose share of the memory the body uses.
};

/// Returns the problem to answer with if the request is refused. `head` has no body yet.
using HeadCheck = std::function<tl::expected<BodyPermit, Problem>(const HttpRequest& head)>;

/// Checks a request again that a HeadCheck refused with 401 or 403, after it has waited for changes
/// of other servers. `refusal` is the answer if there is nothing to wait for. `head` outlives the
/// awaitable; this object need not.
using HeadRecheck = std::function<boost::asio::awaitable<tl::expected<BodyPermit, Problem>>(
    HttpRequest& head, Problem refusal)>;

}  // namespace postrider::api
