#include "api/openapi/document.h"
#include "api/resources/resources.h"

namespace postrider::api {

Awaitable<Reply> get_contract(Context, HttpRequest) {
  co_return HttpResponse{.status = 200,
                         .content_type = "application/json",
                         .headers = {{"Cache-Control", "no-cache"}},
                         .body = openapi_document()};
}

}  // namespace postrider::api
