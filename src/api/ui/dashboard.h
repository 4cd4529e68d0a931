// The web application of operators and tenants: its page and files, and how they are answered.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/http.h"
#include "api/ui/dashboard_file.h"

namespace postrider::api {

/// Immutable; any thread. The files must outlive this object.
class Dashboard {
 public:
  /// `files` must contain /index.html, the page. It is not served as a file.
  explicit Dashboard(std::span<const DashboardFile> files);

  /// Returns nullptr if there is no such file.
  [[nodiscard]] const DashboardFile* find(std::string_view path) const;

  /// The page with `nonce` in each of its placeholders, `__CSP_NONCE__`.
  [[nodiscard]] std::string page(std::string_view nonce) const;

 private:
  std::unordered_map<std::string_view, const DashboardFile*> files_;
  std::vector<std::string_view> page_parts_;  // The text between the placeholders.
};

/// Returns nullptr if there are no files: the program was built without the dashboard.
[[nodiscard]] std::shared_ptr<const Dashboard> make_dashboard(std::span<const DashboardFile> files);

/// Who may show the page in a frame: `none`, `self` and origins. Never empty.
using FrameAncestors = std::vector<std::string>;

/// Answers with HTML that may load only what the headers allow. `nonce` must be unpredictable and
/// new for each answer.
[[nodiscard]] HttpResponse answer_page(std::string html, std::string_view nonce,
                                       const FrameAncestors& frame_ancestors);

/// Answers a GET or HEAD request for the file: 200, or 304 if the client has it.
[[nodiscard]] HttpResponse answer_file(const DashboardFile& file, const HttpRequest& request);

/// Whether the path belongs to the API and to monitoring, so that it never shows the page.
[[nodiscard]] bool is_reserved_path(std::string_view path);

}  // namespace postrider::api
