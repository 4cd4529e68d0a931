#include "api/http/response_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "api/http/request_grammar.h"

namespace postrider::api {
namespace {

bool same_name(std::string_view name, std::string_view lower) {
  return std::ranges::equal(name, lower, {}, to_lower);
}

bool is_framing_header(std::string_view name) {
  constexpr std::array<std::string_view, 6> framing = {
      "connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"};
  return std::ranges::any_of(framing, [&](std::string_view one) { return same_name(name, one); });
}

// A value may contain text of a tenant. Control characters could start a second header line.
bool is_single_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  out.append(digits.begin(), end);
}

bool status_has_body(std::uint16_t status) {
  return status >= 200 && status != 204 && status != 304;
}

void write_response_headers(const HttpResponse& response, std::string& out) {
  bool cache_control_seen = false;
  for (const auto& [name, value] : response.headers) {
    if (is_framing_header(name) || !is_single_line(name) || !is_single_line(value)) {
      continue;
    }
    cache_control_seen = cache_control_seen || same_name(name, "cache-control");
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!cache_control_seen) {
    out.append("Cache-Control: no-store\r\n");  // A response may contain a secret.
  }
}

void write_length(const HttpResponse& response, const ResponseFraming& framing, std::string& out) {
  if (response.stream == nullptr) {
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  } else if (!framing.http_1_0) {
    out.append("Transfer-Encoding: chunked\r\n");
  }  // In HTTP/1.0, closing the connection ends the body.
}

}  // namespace

bool has_body(const HttpResponse& response, const ResponseFraming& framing) {
  return !framing.is_head && status_has_body(response.status) && !response.body.empty() &&
         response.stream == nullptr;
}

void write_head(const HttpResponse& response, const ResponseFraming& framing, std::string& out) {
  out.append("HTTP/1.1 ");
  append_number(out, response.status);
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  if (status_has_body(response.status)) {
    out.append("Content-Type: ").append(response.content_type);
    out.append(response.content_type == "application/json" ? "; charset=utf-8\r\n" : "\r\n");
    write_length(response, framing, out);
  }
  if (!framing.date.empty()) {
    out.append("Date: ").append(framing.date).append("\r\n");
  }
  if (!framing.request_id.empty()) {
    out.append("X-Request-Id: ").append(framing.request_id).append("\r\n");
  }
  out.append("X-Content-Type-Options: nosniff\r\n");
  write_response_headers(response, out);
  if (framing.close) {
    out.append("Connection: close\r\n");
  } else if (framing.http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

std::string http_date(WallTime time) {
  using std::chrono::floor;
  constexpr std::array<std::string_view, 7> weekdays = {"Sun", "Mon", "Tue", "Wed",
                                                        "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_time<Millis> system{time.time_since_epoch()};
  const std::chrono::sys_days day = floor<std::chrono::days>(system);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{floor<std::chrono::seconds>(system - day)};
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     weekdays[std::chrono::weekday{day}.c_encoding()],
                     static_cast<unsigned>(date.day()),
                     months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string_view reason_phrase(std::uint16_t status) {
  const auto text = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  return {text.data(), text.size()};
}

}  // namespace postrider::api
