// The native API: which method and path does what, and who may call it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/http/router.h"
#include "api/resources/api_control.h"
#include "api/resources/api_options.h"
#include "api/resources/auth.h"
#include "runtime/admin/service.h"

namespace postrider::api {

struct RouteEntry {
  std::string_view method;
  std::string_view pattern;
  Admission admission;
};

/// The whole table, so that tests can go through it.
[[nodiscard]] std::vector<RouteEntry> route_table(const ApiOptions& options);

/// Adds every resource of this folder. `service` outlives the router. The options can be changed
/// later; who may read /metrics cannot.
std::shared_ptr<ApiControl> add_routes(Router& router, Service& service, ApiOptions options);

}  // namespace postrider::api
