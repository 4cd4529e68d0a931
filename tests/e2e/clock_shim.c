// Shifts the wall clock of the process that preloads this library by the milliseconds in a file.
// The monotonic clock stays as it is, as if somebody had set the clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset_ms;

__attribute__((constructor)) static void map_offset(void) {
  const char* path = getenv("CLOCK_OFFSET_FILE");
  const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void* mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    offset_ms = mapped == MAP_FAILED ? NULL : mapped;
    close(fd);
  }
}

int clock_gettime(clockid_t id, struct timespec* now) {
  const long result = syscall(SYS_clock_gettime, id, now);
  if (result == 0 && offset_ms && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    const int64_t nanos = now->tv_nsec + (*offset_ms % 1000) * 1000000;
    now->tv_sec += *offset_ms / 1000 + (nanos < 0 ? -1 : nanos / 1000000000);
    now->tv_nsec = (nanos + 1000000000) % 1000000000;
  }
  return (int)result;
}

int gettimeofday(struct timeval* now, void* zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) {
    *result = now.tv_sec;
  }
  return now.tv_sec;
}
