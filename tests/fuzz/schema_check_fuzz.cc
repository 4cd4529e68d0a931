// A JSON Schema and a document, separated by a zero byte: compiling and checking never crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/json/json_text.h"

#include "adapters/json_schema/schema_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const std::size_t end = input.find('\0');
  const std::string_view schema = input.substr(0, end);
  if (end == std::string_view::npos || !postrider::check_json(schema)) {
    return 0;
  }
  const auto check = postrider::make_schema_check(schema);
  const std::string_view document = input.substr(end + 1);
  if (check && postrider::check_json(document)) {
    [[maybe_unused]] const auto faults = (*check)->check(document);
  }
  return 0;
}
