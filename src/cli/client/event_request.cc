#include "cli/client/event_request.h"

#include <optional>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/json/json_text.h"

#include "api/http/url_text.h"
#include "cli/text/webhook_text.h"

namespace postrider::cli {
namespace {

namespace json = boost::json;

Result<void> append_member(std::string& body, std::string_view name,
                           const std::optional<std::string>& value) {
  if (!value) {
    return {};
  }
  if (!api::is_utf8(*value)) {
    return fail(Errc::invalid, fmt::format("The value for `{}` is not UTF-8.", name));
  }
  body += ',';
  append_json_string(body, name);
  body += ':';
  append_json_string(body, *value);
  return {};
}

std::string text_member(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  const json::string* const text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? without_controls({text->data(), text->size()}) : std::string{};
}

std::string describe_refusal(std::uint16_t status, const json::object& problem) {
  std::string line =
      fmt::format("The server answered {}: {}\n", status, text_member(problem, "detail"));
  const json::value* const errors = problem.if_contains("errors");
  if (errors == nullptr || !errors->is_array()) {
    return line;
  }
  for (const json::value& error : errors->get_array()) {
    if (const json::object* const object = error.if_object()) {
      line +=
          fmt::format("  {}: {}\n", text_member(*object, "field"), text_member(*object, "message"));
    }
  }
  return line;
}

}  // namespace

Result<std::string> event_body(const SendOptions& options, std::string_view data) {
  if (const Result<void> checked = check_json(data); !checked) {
    return fail(Errc::invalid, fmt::format("The data is not JSON: {}", checked.error().message));
  }
  std::string body = "{\"type\":";
  if (!api::is_utf8(options.type)) {
    return fail(Errc::invalid, "The value for `type` is not UTF-8.");
  }
  append_json_string(body, options.type);
  body += ",\"data\":";
  body += data;
  POSTRIDER_CHECK(append_member(body, "tenant_id", options.tenant_id));
  POSTRIDER_CHECK(append_member(body, "resource_id", options.resource_id));
  POSTRIDER_CHECK(append_member(body, "idempotency_key", options.idempotency_key));
  POSTRIDER_CHECK(append_member(body, "source", options.source));
  POSTRIDER_CHECK(append_member(body, "ordering_key", options.ordering_key));
  POSTRIDER_CHECK(append_member(body, "priority", options.priority));
  POSTRIDER_CHECK(append_member(body, "timestamp", options.timestamp));
  return body + "}";
}

std::string describe_response(const ClientResponse& response) {
  boost::system::error_code error;
  const json::value parsed = json::parse(response.body, error);
  const json::object* const object = error ? nullptr : parsed.if_object();
  if (object == nullptr) {
    return fmt::format("The server answered {} without JSON.\n", response.status);
  }
  if (response.status < 200 || response.status > 299) {
    return describe_refusal(response.status, *object);
  }
  const json::value* const duplicate = object->if_contains("duplicate");
  const json::value* const deliveries = object->if_contains("deliveries");
  const bool known = duplicate != nullptr && duplicate->is_bool() && duplicate->get_bool();
  const std::int64_t count =
      deliveries != nullptr && deliveries->is_int64() ? deliveries->get_int64() : 0;
  return fmt::format("{} {}, {} {}.\n", text_member(*object, "id"),
                     known ? "was published before" : "published", count,
                     count == 1 ? "delivery" : "deliveries");
}

}  // namespace postrider::cli
