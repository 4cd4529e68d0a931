// The files of the status page: a plain view of the API's own data, made to be replaced by the
// dashboard.
#pragma once

#include <string_view>

namespace postrider::api {

extern const std::string_view status_html;
extern const std::string_view status_css;
extern const std::string_view status_js;

}  // namespace postrider::api
