#include "api/openapi/document.h"

#include <span>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/base/assert.h"
#include "core/base/embedded_file.h"

namespace postrider::api {

std::span<const EmbeddedFile> embedded_fragments();  // Written by CMake.

namespace {

namespace json = boost::json;

json::value parse(std::string_view fragment) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = 64;  // Schemas nest deeper than the default of 32.
  json::value value = json::parse({fragment.data(), fragment.size()}, error, {}, options);
  POSTRIDER_ASSERT(!error);
  return value;
}

/// Merges `fragment` into `document` recursively. Two fragments must not define the same value.
void merge(json::object& document, const json::object& fragment) {
  for (const auto& [name, value] : fragment) {
    json::value& member = document[name];
    if (member.is_null()) {
      member = value;
      continue;
    }
    POSTRIDER_ASSERT(member.is_object() && value.is_object());
    merge(member.get_object(), value.get_object());
  }
}

std::string assemble() {
  json::object document;
  for (const EmbeddedFile& fragment : embedded_fragments()) {
    merge(document, parse(fragment.text).as_object());
  }
  document["info"].as_object()["version"] = POSTRIDER_VERSION;
  return json::serialize(document);
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = assemble();
  return document;
}

}  // namespace postrider::api
