// One delivery for people: its fields, then a line for each attempt. Pure but for the width.
#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace postrider::cli {

[[nodiscard]] std::string one_delivery(const boost::json::value& delivery);

}  // namespace postrider::cli
