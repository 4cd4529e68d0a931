// A text file that is compiled into the program (cmake/PostriderEmbed.cmake).
#pragma once

#include <string_view>

namespace postrider {

struct EmbeddedFile {
  std::string_view name;  // Without folder and extension.
  std::string_view text;
};

}  // namespace postrider
