// Maps methods and paths to handlers. A pattern consists of literal and `{name}` segments.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/http.h"

namespace postrider::api {

/// Filled at start-up. After that, any thread.
class Router {
 public:
  /// Asserts that the method and pattern were not added before.
  void add(std::string method, const std::string& pattern, Handler handler);

  /// Calls the handler for the request. Responds 404 to an unknown path, and 405 with Allow to a
  /// known path with another method. If several patterns match, a literal segment takes precedence
  /// over a `{name}` segment, regardless of the method. HEAD calls the GET handler; the server
  /// omits the body and keeps its length.
  boost::asio::awaitable<HttpResponse> route(HttpRequest request) const;

  /// Every method and pattern, `GET /v1/events/{id}`, in the order they were added.
  [[nodiscard]] std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
  };
  using RouteIndexes = std::vector<std::size_t>;  // Into routes_.
  /// The routes of the pattern that matches the path best, one per method.
  RouteIndexes find(const std::string& path) const;

  std::vector<Route> routes_;
  std::unordered_map<std::string, RouteIndexes> literal_;  // By path: patterns without a `{name}`.
};

}  // namespace postrider::api
