#include "cli/text/version.h"

namespace postrider::cli {

std::string_view version() { return POSTRIDER_VERSION; }

}  // namespace postrider::cli
