// The files of the status page: a minimal view of the API's data, until there is a dashboard.
#pragma once

#include <string_view>

namespace postrider::api {

extern const std::string_view status_html;
extern const std::string_view status_css;
extern const std::string_view status_js;

}  // namespace postrider::api
