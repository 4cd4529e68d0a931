#include "core/model/event.h"

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<Priority, Priority::low> priority_names{{"high", "normal", "low"}};
static_assert(priority_names.names.size() == priority_count);

}  // namespace

std::string_view to_string(Priority priority) { return priority_names.name(priority); }

std::optional<Priority> parse_priority(std::string_view text) { return priority_names.find(text); }

}  // namespace postrider
