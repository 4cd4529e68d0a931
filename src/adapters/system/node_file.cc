#include "adapters/system/node_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace postrider {
namespace {

constexpr mode_t owner_only = 0600;
constexpr std::size_t content_bytes_max = 256;

std::string reason() { return std::generic_category().message(errno); }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

std::string read_all(const Descriptor& file) {
  std::string content(content_bytes_max, '\0');
  const ssize_t count = ::pread(file.get(), content.data(), content.size(), 0);
  content.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return content;
}

/// `<boot> <device> <inode> `: when and where a file was written. A copy is elsewhere.
Result<std::string> origin_of(const Descriptor& file, const std::string& boot) {
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) {
    return fail(Errc::unavailable, reason());
  }
  return fmt::format("{} {} {} ", boot, facts.st_dev, facts.st_ino);
}

/// `<origin><id>`.
std::optional<NodeId> id_of(std::string_view content, std::string_view origin) {
  if (!content.starts_with(origin) || !content.ends_with('\n')) {
    return std::nullopt;
  }
  return NodeId::parse(content.substr(origin.size(), content.size() - origin.size() - 1));
}

class LockedNodeFile final : public NodeFile {
 public:
  LockedNodeFile(Descriptor file, std::optional<NodeId> predecessor)
      : file_(std::move(file)), predecessor_(predecessor) {}

  [[nodiscard]] std::optional<NodeId> predecessor() const override { return predecessor_; }

 private:
  Descriptor file_;  // The lock ends when it is closed, also by the end of the process.
  std::optional<NodeId> predecessor_;
};

}  // namespace

Result<std::unique_ptr<NodeFile>> open_node_file(const std::string& directory, NodeId id,
                                                 const std::string& boot) {
  std::error_code error;
  if (std::filesystem::create_directories(directory, error)) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  const std::string path = directory + "/node";
  Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, owner_only)};
  if (file.get() < 0) {
    return fail(Errc::unavailable, fmt::format("Cannot open {}: {}.", path, reason()));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK
               ? fail(Errc::conflict,
                      fmt::format("The data directory {} is used by another server. "
                                  "Give each server a directory of its own.",
                                  directory))
               : fail(Errc::unavailable, fmt::format("Cannot lock {}: {}.", path, reason()));
  }
  const Result<std::string> origin = origin_of(file, boot);
  if (!origin) {
    return fail(Errc::unavailable,
                fmt::format("Cannot read {}: {}.", path, origin.error().message));
  }
  const std::optional<NodeId> predecessor =
      boot.empty() ? std::nullopt : id_of(read_all(file), *origin);
  const std::string content = fmt::format("{}{}\n", *origin, id.to_string());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), content.data(), content.size(), 0) !=
                                             static_cast<ssize_t>(content.size())) {
    return fail(Errc::unavailable, fmt::format("Cannot write {}: {}.", path, reason()));
  }
  return std::make_unique<LockedNodeFile>(std::move(file), predecessor);
}

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  file >> id;
  return id;
}

}  // namespace postrider
