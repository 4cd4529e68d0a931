#include "api/router.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/assert.h"

#include "api/problem.h"

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

// A literal beats a parameter at the first segment where two matching patterns differ.
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

HttpResponse no_such_path(const HttpRequest& request) {
  return render({.status = 404,
                 .code = "not_found",
                 .title = "Not found",
                 .detail = "There is nothing at `" + request.path + "`. See /openapi.json.",
                 .errors = {}});
}

HttpResponse no_such_method(const HttpRequest& request,
                            const std::vector<std::string_view>& methods) {
  const std::string allow = allowed_methods(methods);
  HttpResponse response = render({.status = 405,
                                  .code = "method_not_allowed",
                                  .title = "Method not allowed",
                                  .detail = request.method + " is not possible here; `" +
                                            request.path + "` answers " + allow + ".",
                                  .errors = {}});
  response.headers.emplace_back("Allow", allow);
  return response;
}

boost::asio::awaitable<HttpResponse> answer(HttpResponse response) { co_return response; }

void fill_parameters(const std::vector<std::string>& pattern, HttpRequest& request) {
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

void Router::add(std::string method, const std::string& pattern, Handler handler) {
  POSTRIDER_ASSERT(pattern.starts_with('/'));
  POSTRIDER_ASSERT(handler != nullptr);
  std::vector<std::string> segments;
  for (const std::string_view segment : split(pattern)) {
    segments.emplace_back(segment);
  }
  POSTRIDER_ASSERT(std::ranges::none_of(routes_, [&](const Route& route) {
    return route.method == method && route.segments == segments;
  }));
  routes_.push_back({std::move(method), std::move(segments), std::move(handler)});
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

const Router::Route* Router::find(const HttpRequest& request,
                                  std::vector<std::string_view>& methods) const {
  const std::string_view method = request.method;
  const std::string_view wanted = method == "HEAD" ? std::string_view{"GET"} : method;
  const std::vector<std::string_view> segments = split(request.path);
  const Route* best = nullptr;
  for (const Route& route : routes_) {
    if (!matches(route.segments, segments)) {
      continue;
    }
    methods.push_back(route.method);
    const bool better = best == nullptr || more_literal(route.segments, best->segments);
    if (route.method == wanted && better) {
      best = &route;
    }
  }
  return best;
}

// Not a coroutine itself: a handler's own frame is enough.
boost::asio::awaitable<HttpResponse> Router::route(HttpRequest request) const {
  std::vector<std::string_view> methods;
  const Route* const found = find(request, methods);
  if (found == nullptr) {
    return answer(methods.empty() ? no_such_path(request) : no_such_method(request, methods));
  }
  fill_parameters(found->segments, request);
  return found->handler(std::move(request));
}

}  // namespace postrider::api
