#include "tests/support/faulty_vfs.h"

#include <cerrno>
#include <fstream>
#include <new>
#include <utility>

#include <sqlite3.h>

namespace postrider::test {

struct FaultyVfs::Registration {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  FaultyVfs* owner = nullptr;
};

namespace {

/// The memory that SQLite allocates for an open file: this struct, followed by the real file's.
struct FaultyFile {
  sqlite3_file base;
  FaultyVfs* owner;
  std::string* path;  // Freed in do_close, because SQLite calls no destructor.
};

FaultyFile& self(sqlite3_file* file) { return *reinterpret_cast<FaultyFile*>(file); }
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<FaultyFile*>(file) + 1);
}

int do_close(sqlite3_file* file) {
  delete self(file).path;
  return real(file)->pMethods->xClose(real(file));
}

int do_read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  if (self(file).owner->next_read_fails()) {
    errno = EIO;  // The default VFS sets the same errno and returns the same code.
    return SQLITE_IOERR_CORRUPTFS;
  }
  return real(file)->pMethods->xRead(real(file), data, size, offset);
}

int do_write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  FaultyFile& faulty = self(file);
  const std::optional<int> fault = faulty.owner->next_fault(false);
  const int written = fault ? size / 2 : size;
  const int code = real(file)->pMethods->xWrite(real(file), data, written, offset);
  faulty.owner->note_write(*faulty.path, {.offset = static_cast<std::uint64_t>(offset),
                                          .bytes = std::string(static_cast<const char*>(data),
                                                               static_cast<std::size_t>(written)),
                                          .truncate_to = {}});
  return fault.value_or(code);
}

int do_truncate(sqlite3_file* file, sqlite3_int64 size) {
  FaultyFile& faulty = self(file);
  faulty.owner->note_write(
      *faulty.path, {.offset = 0, .bytes = {}, .truncate_to = static_cast<std::uint64_t>(size)});
  return real(file)->pMethods->xTruncate(real(file), size);
}

int do_sync(sqlite3_file* file, int flags) {
  FaultyFile& faulty = self(file);
  if (const std::optional<int> fault = faulty.owner->next_fault(true)) {
    return *fault;
  }
  const int code = real(file)->pMethods->xSync(real(file), flags);
  if (code == SQLITE_OK) {
    faulty.owner->note_sync(*faulty.path);
  }
  return code;
}

int do_file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int do_lock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int do_unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int do_check_lock(sqlite3_file* file, int* held) {
  return real(file)->pMethods->xCheckReservedLock(real(file), held);
}
int do_control(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int do_sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int do_characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
int do_shm_map(sqlite3_file* file, int page, int size, int extend, volatile void** address) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, address);
}
int do_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void do_shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int do_shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

const sqlite3_io_methods methods{
    .iVersion = 2,
    .xClose = do_close,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_sync,
    .xFileSize = do_file_size,
    .xLock = do_lock,
    .xUnlock = do_unlock,
    .xCheckReservedLock = do_check_lock,
    .xFileControl = do_control,
    .xSectorSize = do_sector_size,
    .xDeviceCharacteristics = do_characteristics,
    .xShmMap = do_shm_map,
    .xShmLock = do_shm_lock,
    .xShmBarrier = do_shm_barrier,
    .xShmUnmap = do_shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

void apply(const FaultyVfs::Write& write, std::string& content) {
  if (write.truncate_to) {
    content.resize(*write.truncate_to);
    return;
  }
  content.resize(std::max(content.size(), write.offset + write.bytes.size()));
  content.replace(write.offset, write.bytes.size(), write.bytes);
}

}  // namespace

FaultyVfs::FaultyVfs(std::string name)
    : name_(std::move(name)), registration_(std::make_unique<Registration>()) {
  registration_->real = sqlite3_vfs_find(nullptr);
  registration_->owner = this;
  sqlite3_vfs& vfs = registration_->vfs;
  vfs = *registration_->real;
  vfs.zName = name_.c_str();
  vfs.pAppData = registration_.get();
  vfs.szOsFile = static_cast<int>(sizeof(FaultyFile)) + registration_->real->szOsFile;
  vfs.xOpen = [](sqlite3_vfs* self_vfs, sqlite3_filename path, sqlite3_file* file, int flags,
                 int* flags_out) {
    auto* registration = static_cast<Registration*>(self_vfs->pAppData);
    FaultyFile& faulty = *new (file) FaultyFile{};
    const int code =
        registration->real->xOpen(registration->real, path, real(file), flags, flags_out);
    if (code == SQLITE_OK) {
      faulty.base.pMethods = &methods;
      faulty.owner = registration->owner;
      faulty.path = new std::string{path == nullptr ? "" : path};
    }
    return code;
  };
  vfs.xDelete = [](sqlite3_vfs* self_vfs, const char* path, int sync_directory) {
    auto* registration = static_cast<Registration*>(self_vfs->pAppData);
    registration->owner->note_delete(path);
    return registration->real->xDelete(registration->real, path, sync_directory);
  };
  sqlite3_vfs_register(&vfs, 0);
}

FaultyVfs::~FaultyVfs() { sqlite3_vfs_unregister(&registration_->vfs); }

void FaultyVfs::fail_nth(std::uint64_t nth, Kind kind) {
  countdown_ = nth;
  kind_ = kind;
  fired_ = false;
}

void FaultyVfs::fail_reads_from(std::uint64_t nth) {
  reads_left_ = nth;
  fired_ = false;
}

bool FaultyVfs::next_read_fails() {
  if (!reads_left_ || *reads_left_ > 0) {
    reads_left_ = reads_left_ ? std::optional{*reads_left_ - 1} : std::nullopt;
    return false;
  }
  fired_ = true;
  return true;
}

void FaultyVfs::heal() {
  countdown_.reset();
  reads_left_.reset();
}

std::optional<int> FaultyVfs::next_fault(bool is_sync) {
  if (!countdown_) {
    return std::nullopt;
  }
  if (*countdown_ > 0) {
    --*countdown_;
    return std::nullopt;
  }
  fired_ = true;
  if (kind_ == Kind::disk_full) {
    // A sync succeeds on a full disk.
    return is_sync ? std::nullopt : std::optional{SQLITE_FULL};
  }
  countdown_.reset();
  return is_sync ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
}

void FaultyVfs::note_write(const std::string& path, Write write) {
  files_[path].unsynced.push_back(std::move(write));
}

void FaultyVfs::note_sync(const std::string& path) {
  File& file = files_[path];
  for (const Write& write : file.unsynced) {
    apply(write, file.durable);
  }
  file.unsynced.clear();
  if (on_sync_) {
    on_sync_();
  }
}

void FaultyVfs::write_crash_image(const std::filesystem::path& directory,
                                  const Survives& survives) const {
  for (const auto& [path, file] : files_) {
    std::string content = file.durable;
    for (const Write& write : file.unsynced) {
      if (survives()) {
        apply(write, content);
      }
    }
    std::ofstream out{directory / std::filesystem::path{path}.filename(), std::ios::binary};
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  }
}

}  // namespace postrider::test
