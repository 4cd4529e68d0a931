// All sources of events of a server. Any thread, except for start, stop and join.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/metric_sample.h"

#include "runtime/sources/source_runner.h"

namespace postrider {

class SourceHub {
 public:
  /// `clock` must outlive this object.
  SourceHub(std::vector<SourceParts> sources, const Clock& clock, std::uint64_t seed);

  void start();
  /// See SourceRunner.
  void stop_receiving();
  void join();

  /// In the order of the configuration.
  [[nodiscard]] std::vector<SourceView> views() const;
  [[nodiscard]] std::vector<SourceFacts> facts() const;
  [[nodiscard]] std::vector<MetricSample> samples() const;

  /// Both fail with not_found.
  [[nodiscard]] Result<SourceView> find(std::string_view name) const;
  [[nodiscard]] Result<SourceView> set_paused(std::string_view name, bool paused);

 private:
  [[nodiscard]] SourceRunner* find_runner(std::string_view name) const;

  std::vector<std::unique_ptr<SourceRunner>> runners_;
};

}  // namespace postrider
