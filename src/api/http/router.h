// Maps methods and paths to handlers. A pattern consists of literal and `{name}` segments.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/head_check.h"
#include "api/http/http.h"

namespace postrider::api {

/// Filled at start-up. After that, any thread.
class Router {
 public:
  /// Asserts that the method and pattern were not added before.
  void add(std::string method, const std::string& pattern, Handler handler, HeadCheck check);

  /// Whether a request for a path without a pattern is for the fallback.
  using Accepts = std::function<bool(const HttpRequest&)>;
  void set_fallback(Accepts accepts, Handler handler, HeadCheck check);

  /// Calls the handler for the request. Responds 404 to an unknown path, and 405 with Allow to a
  /// known path with another method. If several patterns match, a literal segment takes precedence
  /// over a `{name}` segment, regardless of the method. HEAD calls the GET handler; the server
  /// omits the body and keeps its length.
  boost::asio::awaitable<HttpResponse> route(HttpRequest request) const;

  /// Decides about a request by its header: 404, 405 or as the check of its route does.
  [[nodiscard]] tl::expected<BodyPermit, Problem> check_head(const HttpRequest& head) const;

  /// Every method and pattern, `GET /v1/events/{id}`, in the order they were added.
  [[nodiscard]] std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
    HeadCheck check;
  };
  using RouteIndexes = std::vector<std::size_t>;  // Into routes_.
  /// The routes of the pattern that matches the path best, one per method.
  RouteIndexes find(const std::string& path) const;
  /// The route of the request, or the problem that there is none.
  tl::expected<const Route*, Problem> choose(const HttpRequest& request) const;

  std::vector<Route> routes_;
  std::unordered_map<std::string, RouteIndexes> literal_;  // By path: patterns without a `{name}`.
  Accepts accepts_ = nullptr;
  Route fallback_;
};

}  // namespace postrider::api
