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

struct Lookup {
  std::string host;
  gaicb request{};

  ~Lookup() {
    if (request.ar_result != nullptr) {
      freeaddrinfo(request.ar_result);
    }
  }
};

Result<std::string> address_of(const addrinfo& found) {
  std::array<char, NI_MAXHOST> text{};
  const int code = getnameinfo(found.ai_addr, found.ai_addrlen, text.data(), text.size(), nullptr,
                               0, NI_NUMERICHOST);
  if (code != 0) {
    return fail(Errc::unavailable, gai_strerror(code));
  }
  return std::string{text.data()};
}

}  // namespace

std::optional<DirectoryFacts> directory_facts(const std::string& path) {
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

std::uint64_t open_files_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
}

Result<std::string> resolve_name(const std::string& host, std::chrono::seconds timeout) {
  auto lookup = std::make_unique<Lookup>();
  lookup->host = host;
  lookup->request.ar_name = lookup->host.c_str();
  std::array<gaicb*, 1> list = {&lookup->request};
  if (getaddrinfo_a(GAI_NOWAIT, list.data(), 1, nullptr) != 0) {
    return fail(Errc::unavailable, "the system has no resources for it");
  }
  const timespec limit{.tv_sec = timeout.count(), .tv_nsec = 0};
  const std::array<const gaicb*, 1> waited = {&lookup->request};
  (void)gai_suspend(waited.data(), 1, &limit);
  const int code = gai_error(&lookup->request);
  if (code == EAI_INPROGRESS && gai_cancel(&lookup->request) != EAI_CANCELED) {
    (void)lookup.release();  // The resolver still writes into it.
    return fail(Errc::unavailable, "no answer in time");
  }
  if (code != 0) {
    return fail(Errc::unavailable,
                code == EAI_INPROGRESS ? "no answer in time" : gai_strerror(code));
  }
  return address_of(*lookup->request.ar_result);
}

}  // namespace postrider
