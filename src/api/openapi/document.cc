#include "api/openapi/document.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/base/assert.h"

#include "api/openapi/fragments.h"

namespace postrider::api {
namespace {

namespace json = boost::json;

json::value parse(std::string_view fragment) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = 64;  // Schemas nest deeper than anything a client may send.
  json::value value = json::parse({fragment.data(), fragment.size()}, error, {}, options);
  POSTRIDER_ASSERT(!error);
  return value;
}

/// Objects are joined member by member. The same member twice is a mistake in the fragments.
void join(json::object& whole, const json::object& part) {
  for (const auto& [name, value] : part) {
    json::value& place = whole[name];
    if (place.is_null()) {
      place = value;
    } else {
      POSTRIDER_ASSERT(place.is_object() && value.is_object());
      join(place.get_object(), value.get_object());
    }
  }
}

std::string assemble() {
  json::object whole;
  for (const std::string_view fragment : openapi_fragments()) {
    join(whole, parse(fragment).as_object());
  }
  whole["info"].as_object()["version"] = POSTRIDER_VERSION;
  return json::serialize(whole);
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = assemble();
  return document;
}

}  // namespace postrider::api
