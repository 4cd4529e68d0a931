#include "api/http/router.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/assert.h"

#include "api/http/problem.h"

namespace postrider::api {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> segments;
  std::size_t start = 1;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    segments.push_back(path.substr(start, slash - start));
    start = slash + 1;
  }
  return segments;
}

bool matches(const std::vector<std::string>& pattern,
             const std::vector<std::string_view>& segments) {
  return std::ranges::equal(pattern, segments, [](std::string_view want, std::string_view have) {
    return is_parameter(want) ? !have.empty() : want == have;
  });
}

// A literal takes precedence over a parameter at the first segment where the patterns differ.
bool more_literal(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::lexicographical_compare(a, b, {}, is_parameter, is_parameter);
}

std::string allowed_methods(const std::vector<std::string_view>& methods) {
  std::string allow;
  for (const std::string_view method : methods) {
    allow += allow.empty() ? "" : ", ";
    allow += method;
    allow += method == "GET" ? ", HEAD" : "";
  }
  return allow;
}

Problem no_such_path(const HttpRequest& request) {
  return {.status = 404,
          .code = "not_found",
          .title = "Not found",
          .detail = "The path `" + request.path + "` does not exist. See /openapi.json.",
          .errors = {}};
}

Problem method_not_allowed(const HttpRequest& request,
                           const std::vector<std::string_view>& methods) {
  const std::string allow = allowed_methods(methods);
  Problem problem{
      .status = 405,
      .code = "method_not_allowed",
      .title = "Method not allowed",
      .detail = request.method + " is not supported for `" + request.path + "`. Use " + allow + ".",
      .errors = {}};
  problem.headers = {{"Allow", allow}};
  return problem;
}

boost::asio::awaitable<HttpResponse> respond(HttpResponse response) { co_return response; }

void fill_parameters(const std::vector<std::string>& pattern, HttpRequest& request) {
  if (std::ranges::none_of(pattern, is_parameter)) {
    return;
  }
  std::map<std::string, std::string> parameters;
  const std::vector<std::string_view> segments = split(request.path);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string_view name = pattern[i];
    if (is_parameter(name)) {
      parameters.emplace(name.substr(1, name.size() - 2), segments[i]);
    }
  }
  request.path_parameters = std::move(parameters);
}

}  // namespace

void Router::add(std::string method, const std::string& pattern, Handler handler, HeadCheck check) {
  POSTRIDER_ASSERT(pattern.starts_with('/'));
  POSTRIDER_ASSERT(handler != nullptr);
  POSTRIDER_ASSERT(check != nullptr);
  std::vector<std::string> segments;
  for (const std::string_view segment : split(pattern)) {
    segments.emplace_back(segment);
  }
  POSTRIDER_ASSERT(std::ranges::none_of(routes_, [&](const Route& route) {
    return route.method == method && route.segments == segments;
  }));
  if (std::ranges::none_of(segments, is_parameter)) {
    literal_[pattern].push_back(routes_.size());
  }
  routes_.push_back({std::move(method), std::move(segments), std::move(handler), std::move(check)});
}

void Router::set_fallback(Accepts accepts, Handler handler, HeadCheck check) {
  accepts_ = std::move(accepts);
  fallback_ = {
      .method = {}, .segments = {}, .handler = std::move(handler), .check = std::move(check)};
}

std::vector<std::string> Router::routes() const {
  std::vector<std::string> all;
  for (const Route& route : routes_) {
    std::string text = route.method + " ";
    for (const std::string& segment : route.segments) {
      text += "/" + segment;
    }
    all.push_back(std::move(text));
  }
  return all;
}

Router::RouteIndexes Router::find(const std::string& path) const {
  // A literal segment always takes precedence, so a literal pattern is the best match.
  if (const auto exact = literal_.find(path); exact != literal_.end()) {
    return exact->second;
  }
  const std::vector<std::string_view> segments = split(path);
  RouteIndexes best;
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    const std::vector<std::string>& pattern = routes_[index].segments;
    if (!matches(pattern, segments)) {
      continue;
    }
    if (!best.empty() && more_literal(pattern, routes_[best.front()].segments)) {
      best.clear();
    }
    if (best.empty() || !more_literal(routes_[best.front()].segments, pattern)) {
      best.push_back(index);
    }
  }
  return best;
}

tl::expected<const Router::Route*, Problem> Router::choose(const HttpRequest& request) const {
  const RouteIndexes found = find(request.path);
  if (found.empty()) {
    if (accepts_ && accepts_(request)) {
      return &fallback_;
    }
    return tl::make_unexpected(no_such_path(request));
  }
  const auto method_of = [this](std::size_t index) -> std::string_view {
    return routes_[index].method;
  };
  const std::string_view wanted =
      request.method == "HEAD" ? std::string_view{"GET"} : std::string_view{request.method};
  const auto chosen = std::ranges::find(found, wanted, method_of);
  if (chosen == found.end()) {
    std::vector<std::string_view> methods;
    std::ranges::transform(found, std::back_inserter(methods), method_of);
    return tl::make_unexpected(method_not_allowed(request, methods));
  }
  return &routes_[*chosen];
}

tl::expected<BodyPermit, Problem> Router::check_head(const HttpRequest& head) const {
  const tl::expected<const Route*, Problem> route = choose(head);
  return route ? (*route)->check(head) : tl::make_unexpected(route.error());
}

// Not a coroutine, to save a coroutine frame per request.
boost::asio::awaitable<HttpResponse> Router::route(HttpRequest request) const {
  const tl::expected<const Route*, Problem> chosen = choose(request);
  if (!chosen) {
    return respond(render(chosen.error()));
  }
  const Route& route = **chosen;
  fill_parameters(route.segments, request);
  return route.handler(std::move(request));
}

}  // namespace postrider::api
