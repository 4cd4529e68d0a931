// Which handler answers which path. Patterns are literal segments and `{name}` segments.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/http.h"

namespace postrider::api {

/// Built once at start-up, then only read; any thread.
class Router {
 public:
  /// The same method and pattern twice is a programmer's error.
  void add(std::string method, const std::string& pattern, Handler handler);

  /// Finds the handler and calls it. 404 for an unknown path; 405 with Allow for a known path with
  /// another method. Where two patterns match, the one with a literal segment where the other has a
  /// `{name}` wins, whatever the method. A HEAD request goes to the GET handler; the server then
  /// keeps the answer's length and leaves out its body.
  boost::asio::awaitable<HttpResponse> route(HttpRequest request) const;

  /// Every method and pattern, `GET /v1/events/{id}`, in the order they were added.
  [[nodiscard]] std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
  };
  // The routes of the pattern that fits the path best, one per method: places in routes_.
  using Found = std::vector<std::size_t>;
  Found find(const std::string& path) const;

  std::vector<Route> routes_;
  std::unordered_map<std::string, Found> literal_;  // By path: patterns without a `{name}`.
};

}  // namespace postrider::api
