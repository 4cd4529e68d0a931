#include "api/ui/dashboard_routes.h"

#include "core/request/signature.h"

#include "api/resources/resources.h"
#include "api/ui/dashboard.h"
#include "api/ui/negotiation.h"

namespace postrider::api {
namespace {

constexpr std::size_t nonce_bytes = 16;

constexpr std::string_view page_without_dashboard = R"(<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Postrider</title></head>
<body>
<h1>Postrider</h1>
<p>This program was built without the dashboard. The API is at /v1/ and is described in
<a href="/openapi.json">/openapi.json</a>.</p>
</body>
</html>
)";

}  // namespace

bool is_for_dashboard(const ApiOptions& options, const HttpRequest& request) {
  if (options.dashboard == nullptr) {
    return false;
  }
  if (options.dashboard->find(request.path) != nullptr) {
    return request.method == "GET" || request.method == "HEAD";
  }
  return !is_reserved_path(request.path) && is_navigation(request);
}

Awaitable<Reply> get_dashboard(Context context, HttpRequest request) {
  const ApiOptions& options = *context.options;
  const Dashboard* const dashboard = options.dashboard.get();
  if (dashboard != nullptr) {
    if (const DashboardFile* const file = dashboard->find(request.path)) {
      co_return answer_file(*file, request);
    }
  }
  const std::string nonce = to_hex(options.crypto->random_bytes(nonce_bytes));
  co_return answer_page(
      dashboard != nullptr ? dashboard->page(nonce) : std::string{page_without_dashboard}, nonce,
      options.frame_ancestors);
}

}  // namespace postrider::api
