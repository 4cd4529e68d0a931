#include "main/access_log.h"

#include <iterator>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

constexpr std::uint16_t status_error_min = 400;
constexpr std::size_t method_length_max = 32;

std::string_view or_none(std::string_view text) { return text.empty() ? "none" : text; }

/// For what the client has chosen.
void append_quoted(fmt::memory_buffer& line, std::string_view name, std::string_view text) {
  fmt::format_to(std::back_inserter(line), " {}=\"", name);
  append_log_safe(line, text);
  line.push_back('"');
}

/// Allocates the texts of ids only.
void append_line(fmt::memory_buffer& line, const api::RequestRecord& record) {
  const api::RequestNote& note = record.note;
  const auto out = std::back_inserter(line);
  fmt::format_to(out, "api.request request_id=\"");
  append_log_safe(line, record.request_id);
  const auto duration_us = record.duration.count();
  fmt::format_to(out,
                 "\" method={} route={} status={} duration_ms={}.{:03} request_bytes={} "
                 "response_bytes={} remote_ip={}",
                 or_none(record.method.substr(0, method_length_max)), or_none(note.route),
                 record.status, duration_us / 1000, duration_us % 1000, record.request_bytes,
                 record.response_bytes, or_none(record.remote_ip));
  if (note.key_id) {
    fmt::format_to(out, " key_id={}", note.key_id->to_string());
  }
  if (!note.tenant_id.empty()) {
    append_quoted(line, "tenant", note.tenant_id);
  }
  if (note.event_id) {
    fmt::format_to(out, " event={}", note.event_id->to_string());
  }
  if (note.trace_id) {
    fmt::format_to(out, " trace_id={}", to_string(*note.trace_id));
  }
  if (record.is_cut) {
    fmt::format_to(out, " cut_off=true");
  }
}

}  // namespace

bool AccessLog::is_active() const {
  return which_.load(std::memory_order_relaxed) != config::LogAccess::off &&
         spdlog::should_log(spdlog::level::info);
}

void AccessLog::request_done(const api::RequestRecord& record) {
  const bool only_errors = which_.load(std::memory_order_relaxed) == config::LogAccess::errors;
  const auto level = record.note.is_routine ? spdlog::level::debug : spdlog::level::info;
  if ((only_errors && record.status < status_error_min) || !spdlog::should_log(level)) {
    return;
  }
  fmt::memory_buffer line;
  append_line(line, record);
  spdlog::log(level, std::string_view{line.data(), line.size()});
}

}  // namespace postrider
