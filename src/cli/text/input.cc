#include "cli/text/input.h"

#include <cstdio>
#include <memory>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace postrider::cli {
namespace {

constexpr std::size_t input_bytes_max = 64ul * 1024 * 1024;  // Far above the limits of the server.

Result<std::string> read_all(std::FILE* file, const std::string& name) {
  std::string data;
  std::string block(65'536, '\0');
  while (std::feof(file) == 0 && std::ferror(file) == 0) {
    const std::size_t bytes = std::fread(block.data(), 1, block.size(), file);
    data.append(block, 0, bytes);
    if (data.size() > input_bytes_max) {
      return fail(Errc::invalid,
                  fmt::format("The input from {} is larger than {} bytes.", name, input_bytes_max));
    }
  }
  if (std::ferror(file) != 0) {
    return fail(Errc::invalid, fmt::format("Cannot read {}.", name));
  }
  return data;
}

}  // namespace

Result<std::string> read_input(const std::string& name) {
  if (name == "-") {
    return read_all(stdin, "standard input");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(name.c_str(), "rb"),
                                                             &std::fclose};
  if (file == nullptr) {
    return fail(Errc::invalid, fmt::format("Cannot open `{}`.", name));
  }
  return read_all(file.get(), fmt::format("`{}`", name));
}

Result<std::string> read_argument(const std::string& argument) {
  if (argument == "-") {
    return read_input("-");
  }
  return argument.starts_with('@') ? read_input(argument.substr(1)) : argument;
}

Result<boost::json::object> read_object(const std::string& flag, const std::string& argument) {
  POSTRIDER_TRY(const std::string text, read_argument(argument));
  if (text.empty()) {
    return boost::json::object{};
  }
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(text, error);
  if (error || !value.is_object()) {
    return fail(Errc::invalid,
                fmt::format("{} must be a JSON object, such as {{\"name\": \"a\"}}.", flag));
  }
  return std::move(value.get_object());
}

}  // namespace postrider::cli
