#include "adapters/system/machine.h"

#include <array>
#include <memory>

#include <netdb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace postrider {
namespace {

Result<std::string> address_of(const addrinfo& found) {
  std::array<char, NI_MAXHOST> text{};
  const int code = getnameinfo(found.ai_addr, found.ai_addrlen, text.data(), text.size(), nullptr,
                               0, NI_NUMERICHOST);
  if (code != 0) {
    return fail(Errc::unavailable, gai_strerror(code));
  }
  return std::string{text.data()};
}

class SystemMachine final : public Machine {
 public:
  [[nodiscard]] std::optional<DirectoryFacts> directory_facts(
      const std::string& path) const override {
    struct stat status{};
    struct statvfs space{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        ::statvfs(path.c_str(), &space) != 0) {
      return std::nullopt;
    }
    return DirectoryFacts{.writable = ::access(path.c_str(), R_OK | W_OK | X_OK) == 0,
                          .open_to_others = (status.st_mode & (S_IRWXG | S_IRWXO)) != 0,
                          .free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize};
  }

  [[nodiscard]] std::uint64_t open_files_limit() const override {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
  }

  [[nodiscard]] Result<std::string> resolve_name(const std::string& host) const override {
    addrinfo* found = nullptr;
    const int code = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
    if (code != 0) {
      return fail(Errc::unavailable, gai_strerror(code));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, freeaddrinfo};
    return address_of(*owned);
  }
};

}  // namespace

std::unique_ptr<Machine> make_system_machine() { return std::make_unique<SystemMachine>(); }

}  // namespace postrider
