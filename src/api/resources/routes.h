// The route table of the API: which handler answers a method and path, and which keys may call it.
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

/// The whole table, for tests.
[[nodiscard]] std::vector<RouteEntry> route_table();

/// Adds every route. `service` must outlive the router. The options can be changed later.
std::shared_ptr<ApiControl> add_routes(Router& router, Service& service, ApiOptions options);

/// Adds what a listener for monitoring serves, to anybody: the health checks and the metrics.
void add_monitoring_routes(Router& router, Service& service,
                           const std::shared_ptr<ApiControl>& control);

}  // namespace postrider::api
