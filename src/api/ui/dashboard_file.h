// A file of the dashboard that is compiled into the program (cmake/PostriderDashboard.cmake).
#pragma once

#include <span>
#include <string_view>

namespace postrider::api {

struct DashboardFile {
  std::string_view path;  // As in a request: `/assets/index-BxW1.js`.
  std::string_view content_type;
  std::string_view hash;  // Of the content. Valid in an ETag.
  std::string_view content;
  std::string_view brotli;  // The compressed content. Empty: it would not be smaller.
  std::string_view gzip;    // As above.
};

/// All files; none in a build with POSTRIDER_DASHBOARD=OFF. Only the program links it, so that
/// libraries and tests do not wait for Node.
[[nodiscard]] std::span<const DashboardFile> embedded_dashboard();

}  // namespace postrider::api
