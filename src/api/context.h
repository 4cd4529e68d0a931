// What every handler is given.
#pragma once

#include <memory>

#include <tl/expected.hpp>

#include "api/api_options.h"
#include "api/caller.h"
#include "api/http.h"
#include "api/problem.h"
#include "runtime/service.h"

namespace postrider::api {

/// A value from a request, or the problem to answer with.
template <class T>
using Parsed = tl::expected<T, Problem>;

/// Cheap to copy: coroutines take it by value. The service outlives the router.
struct Context {
  Service* service = nullptr;
  std::shared_ptr<const ApiOptions> options;
  Caller caller;  // Of this request.
};

/// A handler's coroutine.
using Resource = Awaitable<HttpResponse> (*)(Context context, HttpRequest request);

}  // namespace postrider::api
