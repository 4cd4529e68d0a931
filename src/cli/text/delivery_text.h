// Formats a delivery as text: its fields, then a table of its attempts. Pure.
#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "cli/text/table.h"

namespace postrider::cli {

[[nodiscard]] std::string delivery_text(const boost::json::value& delivery,
                                        const TableStyle& style);

}  // namespace postrider::cli
