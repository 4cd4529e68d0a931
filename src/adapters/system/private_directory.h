// Keeps other users of the machine out of the data directory, which contains all events and
// secrets.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"

namespace postrider {

/// Removes the permissions of group and others from the directory and from the files in it. A
/// missing directory is not created. Returns a sentence if something was changed. Fails with
/// invalid, and a sentence that says what to do, if that is not possible.
[[nodiscard]] Result<std::optional<std::string>> make_private(const std::string& directory);

}  // namespace postrider
