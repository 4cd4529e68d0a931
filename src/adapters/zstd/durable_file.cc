#include "adapters/zstd/durable_file.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace postrider::zstd {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

auto cannot(std::string_view what, const fs::path& file) {
  const std::string reason = std::generic_category().message(errno);
  return fail(Errc::unavailable, fmt::format("{} cannot be {}: {}.", file.string(), what, reason));
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> write_synced(const fs::path& file, std::string_view bytes) {
  const Descriptor descriptor{
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (descriptor.number() < 0) {
    return cannot("created", file);
  }
  if (!write_all(descriptor.number(), bytes) || ::fsync(descriptor.number()) != 0) {
    return cannot("written", file);
  }
  return {};
}

Result<void> sync_directory(const fs::path& directory) {
  const Descriptor descriptor{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.number() < 0 || ::fsync(descriptor.number()) != 0) {
    return cannot("synced", directory);
  }
  return {};
}

}  // namespace

Result<void> write_durably(const fs::path& file, std::string_view bytes) {
  const fs::path temporary = file.string() + ".tmp";
  Result<void> written = write_synced(temporary, bytes);
  if (written && ::rename(temporary.c_str(), file.c_str()) != 0) {
    written = cannot("renamed", temporary);
  }
  if (!written) {
    std::error_code ignored;  // Removed because an incomplete file is useless and uses disk space.
    fs::remove(temporary, ignored);
    return written;
  }
  return sync_directory(file.parent_path());
}

Result<std::string> read_whole(const fs::path& file) {
  const std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    return cannot("read", file);
  }
  return std::move(text).str();
}

}  // namespace postrider::zstd
