// Writes a JSON number as another program would write it after reading it.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// Appends what JSON.stringify(JSON.parse(number)) returns in JavaScript: the shortest text of the
/// nearest double, `null` if it is infinite. `number` must be a valid JSON number.
void append_javascript_number(std::string& out, std::string_view number);

/// Appends what json.dumps(json.loads(number)) returns in Python: integers of any size unchanged,
/// other numbers as the shortest text of the nearest double. An infinite one is copied unchanged,
/// because Python writes `Infinity`, which is not JSON.
void append_python_number(std::string& out, std::string_view number);

}  // namespace postrider
