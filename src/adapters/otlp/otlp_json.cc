#include "adapters/otlp/otlp_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "core/base/overloaded.h"
#include "core/base/parse_number.h"
#include "core/json/json_string.h"

namespace postrider::otlp {
namespace {

constexpr int status_error = 2;

void append_text(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  append_json_string(out, text);
  if (scan_json_string(std::string_view{out}.substr(start + 1)).error.empty()) {
    return;
  }
  out.resize(start);
  std::string ascii{text};
  std::ranges::replace_if(
      ascii, [](char character) { return static_cast<unsigned char>(character) >= 0x80; }, '?');
  append_json_string(out, ascii);
}

void append_key(std::string& out, std::string_view key) {
  out += out.back() == '{' ? "\"" : ",\"";
  out += key;
  out += "\":";
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  append_text(out, text);
}

/// 64-bit integers are JSON strings, as in the JSON encoding of Protocol Buffers.
void append_integer(std::string& out, std::string_view key, std::int64_t number) {
  append_key(out, key);
  fmt::format_to(std::back_inserter(out), "\"{}\"", number);
}

void append_attribute(std::string& out, const SpanAttribute& attribute) {
  out += out.back() == '[' ? "{" : ",{";
  append_member(out, "key", attribute.name);
  append_key(out, "value");
  out += '{';
  std::visit(Overloaded{[&](const std::string& text) { append_member(out, "stringValue", text); },
                        [&](std::int64_t number) { append_integer(out, "intValue", number); },
                        [&](bool value) {
                          append_key(out, "boolValue");
                          out += value ? "true" : "false";
                        }},
             attribute.value);
  out += "}}";
}

void append_attributes(std::string& out, std::span<const SpanAttribute> attributes) {
  append_key(out, "attributes");
  out += '[';
  for (const SpanAttribute& attribute : attributes) {
    append_attribute(out, attribute);
  }
  out += ']';
}

void append_time(std::string& out, std::string_view key, Micros since_1970) {
  append_integer(out, key, std::chrono::nanoseconds{since_1970}.count());
}

void append_span(std::string& out, const Span& span) {
  out += out.back() == '[' ? "{" : ",{";
  append_member(out, "traceId", to_string(span.trace_id));
  append_member(out, "spanId", to_string(span.id));
  if (!span.state.empty()) {
    append_member(out, "traceState", span.state);
  }
  if (span.parent) {
    append_member(out, "parentSpanId", to_string(*span.parent));
  }
  append_member(out, "name", span.name);
  append_key(out, "kind");
  fmt::format_to(std::back_inserter(out), "{}", static_cast<int>(span.kind));
  append_time(out, "startTimeUnixNano", span.start);
  append_time(out, "endTimeUnixNano", span.start + span.duration);
  append_attributes(out, span.attributes);
  if (span.error) {
    append_key(out, "status");
    out += '{';
    append_member(out, "message", *span.error);
    append_key(out, "code");
    fmt::format_to(std::back_inserter(out), "{}", status_error);
    out += '}';
  }
  out += '}';
}

std::optional<std::uint64_t> as_number(const boost::json::value& value) {
  if (const boost::json::string* text = value.if_string()) {
    return parse_number<std::uint64_t>({text->data(), text->size()});
  }
  const std::int64_t* number = value.if_int64();
  return number && *number >= 0 ? std::optional{static_cast<std::uint64_t>(*number)} : std::nullopt;
}

}  // namespace

std::string write_request(const Service& service, std::span<const Span> spans) {
  constexpr std::size_t span_bytes_typical = 900;
  std::string out;
  out.reserve(512 + span_bytes_typical * spans.size());
  out += R"({"resourceSpans":[{"resource":{)";
  const SpanAttribute about[] = {{"service.name", service.name},
                                 {"service.version", service.version}};
  append_attributes(out, about);
  out += R"(},"scopeSpans":[{"scope":{)";
  append_member(out, "name", "postrider");
  append_member(out, "version", service.version);
  out += R"(},"spans":[)";
  for (const Span& span : spans) {
    append_span(out, span);
  }
  out += "]}]}]}";
  return out;
}

std::uint64_t read_rejected(std::string_view response) {
  boost::system::error_code error;
  const boost::json::value body = boost::json::parse({response.data(), response.size()}, error);
  if (error || !body.is_object()) {
    return 0;
  }
  const boost::json::value* partial = body.get_object().if_contains("partialSuccess");
  if (partial == nullptr || !partial->is_object()) {
    return 0;
  }
  const boost::json::value* rejected = partial->get_object().if_contains("rejectedSpans");
  return rejected ? as_number(*rejected).value_or(0) : 0;
}

}  // namespace postrider::otlp
