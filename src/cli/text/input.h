// What a command reads: files and standard input.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "core/base/result.h"

namespace postrider::cli {

/// A file's bytes, or standard input's for `-`. Fails with invalid: it cannot be read, or is larger
/// than anything a server would take.
[[nodiscard]] Result<std::string> read_input(const std::string& name);

/// `argument` itself, or what `@FILE` or `-` holds.
[[nodiscard]] Result<std::string> read_argument(const std::string& argument);

/// The same, read as a JSON object; nothing is an empty one. `flag` is named when it is none.
[[nodiscard]] Result<boost::json::object> read_object(const std::string& flag,
                                                      const std::string& argument);

}  // namespace postrider::cli
