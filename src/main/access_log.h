// The log line of a request to the API: `api.request request_id="…" method=GET route=… status=200
// …`.
#pragma once

#include <atomic>

#include "api/http/request_observer.h"
#include "config/config.h"

namespace postrider {

/// Logs requests at level info, routine ones at level debug. Never contains bodies, paths, queries
/// or the text of a key. Any thread.
class AccessLog final : public api::RequestObserver {
 public:
  void change(config::LogAccess which) { which_ = which; }

  [[nodiscard]] bool is_active() const override;
  void request_done(const api::RequestRecord& record) override;

 private:
  std::atomic<config::LogAccess> which_ = config::LogAccess::all;
};

}  // namespace postrider
