// What every handler is given.
#pragma once

#include <memory>
#include <optional>

#include <tl/expected.hpp>

#include "api/http/http.h"
#include "api/http/problem.h"
#include "api/resources/api_options.h"
#include "api/resources/caller.h"
#include "runtime/admin/service.h"

namespace postrider::api {

/// A value from a request, or the problem to answer with.
template <class T>
using Parsed = tl::expected<T, Problem>;

/// Cheap to copy: coroutines take it by value. `service` is the world as the caller may see and
/// change it: everything for most keys, one tenant's part for a tenant's key (tenant_service.h).
/// There is no other way to anyone's data.
struct Context {
  Service* service = nullptr;
  std::shared_ptr<const ApiOptions> options;
  Caller caller;  // Of this request.
  std::shared_ptr<Service> owned =
      nullptr;  // What `service` points to when it was made for this caller.
  std::optional<RequestKey> request_key = std::nullopt;  // This request is to be done once.
};

/// A handler's coroutine.
using Resource = Awaitable<HttpResponse> (*)(Context context, HttpRequest request);

}  // namespace postrider::api
