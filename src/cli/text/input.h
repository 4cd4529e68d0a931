// Reads the input of commands: files and standard input.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "core/base/result.h"

namespace postrider::cli {

/// Returns the contents of a file, or of standard input for `-`. Fails with invalid if it cannot be
/// read or is larger than any request that a server accepts.
[[nodiscard]] Result<std::string> read_input(const std::string& name);

/// Returns `argument` itself, or the contents of the file for `@FILE`, or of standard input for
/// `-`.
[[nodiscard]] Result<std::string> read_argument(const std::string& argument);

/// The same, parsed as a JSON object. An empty argument is an empty object. The error message names
/// `flag`.
[[nodiscard]] Result<boost::json::object> read_object(const std::string& flag,
                                                      const std::string& argument);

}  // namespace postrider::cli
