// A file in a data directory that was copied into a database. A server that started in the
// directory again would make the deliveries once more that the database now makes.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"

namespace postrider {

/// Where the file is. Removing it makes the directory usable again.
[[nodiscard]] std::string copied_mark_file(const std::string& directory);

/// `target`: the name of the database for people, without its password.
[[nodiscard]] Result<void> write_copied_mark(const std::string& directory,
                                             const std::string& target);

/// The database, or nullopt if the directory was not copied.
[[nodiscard]] std::optional<std::string> read_copied_mark(const std::string& directory);

}  // namespace postrider
