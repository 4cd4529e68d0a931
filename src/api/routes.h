// The native API: which method and path does what, and who may call it.
#pragma once

#include "api/api_options.h"
#include "api/router.h"
#include "runtime/service.h"

namespace postrider::api {

/// Adds every resource of this folder. `service` outlives the router.
void add_routes(Router& router, Service& service, ApiOptions options);

}  // namespace postrider::api
