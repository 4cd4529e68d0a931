#include "main/server_samples.h"

#include <algorithm>
#include <iterator>

#include "adapters/system/process_samples.h"
#include "cli/text/version.h"

namespace postrider {

std::vector<MetricSample> server_samples() {
  std::vector<MetricSample> samples{{.name = "postrider_build_info",
                                     .help = "Always 1; the label is the version of the server",
                                     .labels = {{"version", std::string{cli::version()}}},
                                     .value = 1}};
  std::ranges::move(process_samples(), std::back_inserter(samples));
  return samples;
}

}  // namespace postrider
