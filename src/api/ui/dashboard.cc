#include "api/ui/dashboard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "api/ui/negotiation.h"

namespace postrider::api {
namespace {

constexpr std::string_view page_path = "/index.html";
constexpr std::string_view placeholder = "__CSP_NONCE__";
constexpr std::string_view hashed_folder = "/assets/";

std::vector<std::string_view> split_at_placeholders(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(placeholder); at != std::string_view::npos;
       at = text.find(placeholder)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + placeholder.size());
  }
  parts.push_back(text);
  return parts;
}

/// As sources of a Content-Security-Policy, which writes words in quotes.
std::string frame_sources(const FrameAncestors& frame_ancestors) {
  std::string sources;
  for (const std::string& each : frame_ancestors) {
    const bool is_word = each == "none" || each == "self";
    sources += fmt::format(" {}{}{}", is_word ? "'" : "", each, is_word ? "'" : "");
  }
  return sources;
}

/// A receiver's text cannot run as script: no inline code, nothing from other hosts. A tenant's
/// logo may be on any host with TLS.
std::string content_policy(std::string_view nonce, const FrameAncestors& frame_ancestors) {
  return fmt::format(
      "default-src 'self'; script-src 'self'; style-src 'self' 'nonce-{}'; img-src 'self' data: "
      "https:; connect-src 'self'; font-src 'self' data:; object-src 'none'; base-uri 'none'; "
      "form-action 'self'; frame-ancestors{}",
      nonce, frame_sources(frame_ancestors));
}

std::string_view name_of(Coding coding) {
  switch (coding) {
    case Coding::brotli:
      return "br";
    case Coding::gzip:
      return "gzip";
    case Coding::identity:
      break;
  }
  return "";
}

std::string_view content_of(const DashboardFile& file, Coding coding) {
  switch (coding) {
    case Coding::brotli:
      return file.brotli;
    case Coding::gzip:
      return file.gzip;
    case Coding::identity:
      break;
  }
  return file.content;
}

}  // namespace

Dashboard::Dashboard(std::span<const DashboardFile> files) {
  for (const DashboardFile& file : files) {
    if (file.path == page_path) {
      page_parts_ = split_at_placeholders(file.content);
    } else {
      files_.emplace(file.path, &file);
    }
  }
  POSTRIDER_ASSERT(!page_parts_.empty());
}

const DashboardFile* Dashboard::find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second;
}

std::string Dashboard::page(std::string_view nonce) const {
  return fmt::format("{}", fmt::join(page_parts_, nonce));
}

std::shared_ptr<const Dashboard> make_dashboard(std::span<const DashboardFile> files) {
  return files.empty() ? nullptr : std::make_shared<const Dashboard>(files);
}

HttpResponse answer_page(std::string html, std::string_view nonce,
                         const FrameAncestors& frame_ancestors) {
  HttpResponse response{
      .status = 200,
      .content_type = "text/html; charset=utf-8",
      .headers = {{"Content-Security-Policy", content_policy(nonce, frame_ancestors)},
                  {"Cache-Control", "no-store"},
                  {"Referrer-Policy", "same-origin"},
                  {"Cross-Origin-Opener-Policy", "same-origin"},
                  {"Permissions-Policy",
                   "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), "
                   "payment=(), serial=(), usb=()"}},
      .body = std::move(html)};
  if (frame_ancestors == FrameAncestors{"none"}) {  // For browsers without frame-ancestors.
    response.headers.emplace_back("X-Frame-Options", "DENY");
  }
  return response;
}

HttpResponse answer_file(const DashboardFile& file, const HttpRequest& request) {
  const Coding coding = choose_coding(request.header("accept-encoding"),
                                      {.gzip = !file.gzip.empty(), .brotli = !file.brotli.empty()});
  const std::string_view coding_name = name_of(coding);
  const std::string etag = coding_name.empty() ? fmt::format("\"{}\"", file.hash)
                                               : fmt::format("\"{}-{}\"", file.hash, coding_name);
  // The name of a file in that folder changes with its content.
  const bool is_immutable = file.path.starts_with(hashed_folder);
  HttpResponse response{
      .status = 200,
      .content_type = std::string{file.content_type},
      .headers = {{"Cache-Control",
                   is_immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                  {"ETag", etag},
                  {"Vary", "Accept-Encoding"},
                  {"Cross-Origin-Resource-Policy", "same-origin"}},
      .body = {}};
  if (matches_etag(request.header("if-none-match").value_or(""), etag)) {
    response.status = 304;
    return response;
  }
  if (!coding_name.empty()) {
    response.headers.emplace_back("Content-Encoding", coding_name);
  }
  response.body = content_of(file, coding);
  return response;
}

bool is_reserved_path(std::string_view path) {
  constexpr std::array<std::string_view, 5> reserved = {"healthz", "readyz", "metrics",
                                                        "openapi.json", "assets"};
  const std::string_view rest = path.substr(std::min<std::size_t>(1, path.size()));
  const std::string_view first = rest.substr(0, rest.find('/'));
  const bool is_version = first.size() > 1 && first[0] == 'v' &&
                          first.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return is_version || std::ranges::find(reserved, first) != reserved.end();
}

}  // namespace postrider::api
