// A few threads for the reads that people ask for, away from the delivery path.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ports/history.h"

namespace postrider {

class ReaderPool {
 public:
  using Job = std::function<void(History&)>;

  /// One thread for each reader.
  explicit ReaderPool(std::vector<std::unique_ptr<History>> readers);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// Any thread. The queue is bounded by the callers: a connection waits for one job at a time.
  void submit(Job job);
  /// Finishes what is queued, then ends the threads.
  void stop();

 private:
  void run(History& history);

  std::mutex mutex_;  // Guards the two below.
  std::condition_variable wake_;
  std::deque<Job> queue_;
  bool stopping_ = false;

  std::vector<std::unique_ptr<History>> readers_;
  std::vector<std::thread> threads_;
};

}  // namespace postrider
