// A filter and an event's data, separated by a zero byte: parsing and matching never crash.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/filter/filter.h"
#include "core/json/json_text.h"
#include "core/model/event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(bytes), size};
  const std::size_t end = input.find('\0');
  const auto filter = postrider::Filter::parse(input.substr(0, end));
  if (!filter || end == std::string_view::npos) {
    return 0;
  }
  const std::string_view data = input.substr(end + 1);
  if (postrider::check_json(data)) {
    postrider::Event event;
    event.type = "fuzz.event";
    event.data = std::string{data};
    [[maybe_unused]] const bool matches = filter->matches(event);
  }
  return 0;
}
