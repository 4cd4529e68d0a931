#include "cli/text/webhook_text.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/json/json_text.h"

#include "api/http/url_text.h"

namespace postrider::cli {
namespace {

constexpr std::size_t body_shown_bytes_max = 16ul * 1024;
constexpr std::string_view margin = "    ";

struct Style {
  std::string_view on;
  std::string_view off;
};

Style style(bool colour, std::string_view code) {
  return colour ? Style{code, "\x1b[0m"} : Style{};
}

// The value of the first header `X-…` that ends with `suffix`. The prefix is configurable.
std::string_view header_ending(const api::HttpRequest& request, std::string_view suffix) {
  for (const auto& [name, value] : request.headers) {
    if (name.starts_with("x-") && name.ends_with(suffix)) {
      return value;
    }
  }
  return {};
}

std::string_view event_type_of(const api::HttpRequest& request) {
  return header_ending(request, "-event");
}

std::string describe(const SignatureFinding& finding) {
  switch (finding.verdict) {
    case SignatureVerdict::valid:
      return fmt::format("signature valid ({})", finding.scheme);
    case SignatureVerdict::stale:
      return fmt::format("signature valid ({}) but its timestamp is outside the tolerance",
                         finding.scheme);
    case SignatureVerdict::missing:
      return "no signature";
    case SignatureVerdict::wrong:
      return "signature INVALID";
    case SignatureVerdict::unchecked:
      break;
  }
  return "signature not checked";
}

std::string_view colour_of(SignatureVerdict verdict) {
  switch (verdict) {
    case SignatureVerdict::valid:
      return "\x1b[32m";
    case SignatureVerdict::unchecked:
      return "\x1b[2m";
    default:
      return "\x1b[31m";
  }
}

std::string body_text(std::string_view body) {
  if (body.empty()) {
    return {};
  }
  std::string text =
      check_json(body) ? indent_json(body, margin) : std::string{margin}.append(body);
  const bool cut = text.size() > body_shown_bytes_max;
  text.resize(std::min(text.size(), body_shown_bytes_max));
  text = without_controls(text);
  return cut ? fmt::format("{}\n{}… ({} bytes in total)\n", text, margin, body.size())
             : text + "\n";
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  append_json_string(out, name);
  out += ':';
  append_json_string(out, api::is_utf8(value) ? value : "(not UTF-8)");
  out += ',';
}

}  // namespace

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool beyond_ascii = byte == 0xc2 && 0x80 <= next && next <= 0x9f;  // U+0080..U+009F.
    if (beyond_ascii) {
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n') || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string indent_json(std::string_view json, std::string_view line_margin) {
  std::string out{line_margin};
  std::size_t depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out.append("\n").append(line_margin).append(2 * depth, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\') {
        out += json[++i];
      }
      in_string = c != '"';
    } else if (c == '{' || c == '[') {
      out += c;
      const std::size_t next = json.find_first_not_of(" \t\r\n", i + 1);
      if (json[next] == '}' || json[next] == ']') {
        out += json[next];
        i = next;
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out += c;
    } else if (c == ',') {
      out += c;
      new_line();
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      out += c;
      out += c == ':' ? " " : "";
      in_string = c == '"';
    }
  }
  return out;
}

std::string to_text(const ReceivedWebhook& webhook, bool colour) {
  const api::HttpRequest& request = webhook.request;
  const Style dim = style(colour, "\x1b[2m");
  const Style bold = style(colour, "\x1b[1m");
  const Style verdict = style(colour, colour_of(webhook.signature.verdict));
  const std::string_view type = event_type_of(request);
  const std::string_view attempt = header_ending(request, "-attempt");

  std::string line = fmt::format("{}{}{} {} {}", dim.on, to_rfc3339(webhook.received_at), dim.off,
                                 request.method, request.path);
  if (!type.empty()) {
    line += fmt::format("  {}{}{}", bold.on, without_controls(type), bold.off);
  }
  if (const auto id = request.header("webhook-id")) {
    line += fmt::format("  {}", without_controls(*id));
  }
  if (!attempt.empty()) {
    line += fmt::format("  attempt {}", without_controls(attempt));
  }
  line += fmt::format("  {}{}{}  answered {}\n", verdict.on, describe(webhook.signature),
                      verdict.off, webhook.answered);
  return line + body_text(request.body);
}

std::string to_json_line(const ReceivedWebhook& webhook) {
  const api::HttpRequest& request = webhook.request;
  std::string out = "{";
  append_member(out, "received_at", to_rfc3339(webhook.received_at));
  append_member(out, "method", request.method);
  append_member(out, "path", request.path);
  append_member(out, "webhook_id", request.header("webhook-id").value_or(""));
  append_member(out, "event_type", event_type_of(request));
  append_member(out, "delivery_id", header_ending(request, "-delivery"));
  append_member(out, "attempt", header_ending(request, "-attempt"));
  append_member(out, "signature", to_string(webhook.signature.verdict));
  append_member(out, "scheme", webhook.signature.scheme);
  out += fmt::format("\"answered\":{},\"headers\":{{", webhook.answered);
  for (const auto& [name, value] : request.headers) {
    append_member(out, name, value);
  }
  if (out.back() == ',') {
    out.pop_back();
  }
  out += "},";
  if (check_json(request.body)) {
    out += "\"body\":";
    // Line breaks in valid JSON are white space between tokens; a JSON line must not have any.
    std::ranges::replace_copy_if(
        request.body, std::back_inserter(out), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  } else {
    append_member(out, "body_text", request.body);
    out.pop_back();
  }
  return out + "}\n";
}

}  // namespace postrider::cli
