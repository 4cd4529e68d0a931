// The address of a source's server, which can contain a password.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"

namespace postrider::config {

/// The address without its password, for people. Hides too much rather than too little.
[[nodiscard]] std::string shown_address(std::string_view address);

/// True if the address has a scheme that the kind of source can use, something after it, and only
/// visible ASCII characters.
[[nodiscard]] bool is_source_address(SourceKind kind, std::string_view address);

/// `postgres:// or postgresql://`.
[[nodiscard]] std::string schemes_of(SourceKind kind);

}  // namespace postrider::config
