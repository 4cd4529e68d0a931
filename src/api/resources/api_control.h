// The mutable state of the running API: options, in force from the next request on, request limits
// and counts of requests. Any thread.
#pragma once

#include <memory>
#include <utility>

#include "api/resources/api_options.h"
#include "api/resources/api_shares.h"
#include "api/resources/catch_ups.h"
#include "api/resources/request_limiter.h"
#include "api/resources/route_meters.h"
#include "runtime/store/snapshot.h"

namespace postrider::api {

class ApiControl {
 public:
  explicit ApiControl(ApiOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::shared_ptr<const ApiOptions> options() const { return options_.get(); }
  void change(ApiOptions options) { options_.replace(std::move(options)); }

  [[nodiscard]] RequestLimiter& limiter() { return limiter_; }
  [[nodiscard]] CatchUps& catch_ups() { return catch_ups_; }
  [[nodiscard]] const ApiShares& shares() const { return shares_; }
  [[nodiscard]] RouteMeters& meters() { return meters_; }

 private:
  Snapshot<ApiOptions> options_;
  RequestLimiter limiter_;
  CatchUps catch_ups_;
  const ApiShares shares_;
  RouteMeters meters_;
};

}  // namespace postrider::api
