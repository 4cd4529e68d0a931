#include "api/ui/status_page.h"

#include "api/resources/resources.h"

namespace postrider::api {
namespace {

// Allows no inline code and nothing from other hosts, so that a receiver's text cannot run as
// script.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

HttpResponse page_response(std::string_view content_type, std::string_view content) {
  return {.status = 200,
          .content_type = std::string{content_type},
          .headers = {{"Content-Security-Policy", std::string{content_policy}},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Cache-Control", "no-cache"}},
          .body = std::string{content}};
}

}  // namespace

Awaitable<Reply> get_status_page(Context, HttpRequest) {
  co_return page_response("text/html; charset=utf-8", status_html);
}

Awaitable<Reply> get_status_style(Context, HttpRequest) {
  co_return page_response("text/css; charset=utf-8", status_css);
}

Awaitable<Reply> get_status_script(Context, HttpRequest) {
  co_return page_response("text/javascript; charset=utf-8", status_js);
}

}  // namespace postrider::api
