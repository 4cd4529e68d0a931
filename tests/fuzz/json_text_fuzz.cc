// Any text: checking never crashes, and what is accepted can be split into slices of itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/assert.h"
#include "core/json/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const bool accepted = postrider::check_json(text).has_value();
  if (const auto members = postrider::read_json_object(text)) {
    POSTRIDER_ASSERT(accepted);
  }
  if (const auto elements = postrider::read_json_array(text)) {
    POSTRIDER_ASSERT(accepted);
    for (const std::string_view element : *elements) {
      POSTRIDER_ASSERT(postrider::check_json(element).has_value());
    }
  }
  return 0;
}
