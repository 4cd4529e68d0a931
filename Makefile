# The project's commands. Each installs the packages it needs. `make help` lists them.
#
#   PORT=9090 make run        another port for the demo (8080)
#   JOBS=4 make build         parallel compiler runs (the number of cores)
#   FUZZ_SECONDS=600 make fuzz

PYTHON := /usr/bin/python3
JOBS ?= $(shell nproc)
PORT ?= 8080
FUZZ_SECONDS ?= 30

BINARY := build/release/postrider
CLANG_FORMAT := git ls-files -z '*.h' '*.cc' | xargs -0 -r clang-format-19

export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help deps build run test test-on-postgres bench format check lint asan tsan fuzz clean
.PRECIOUS: build/%/build.ninja
# Each recipe runs in parallel internally. Running the recipes one by one keeps their output apart.
.NOTPARALLEL:

help: ## Lists these targets.
	@awk -F':.*## ' '/^[a-z%-]+:.*## / {sub("%", "NAME", $$1); printf "  make %-16s %s\n", $$1, $$2}' \
	  Makefile

deps: ## Installs every Debian package any target needs.
	@tools/deps.sh

deps-%:
	@tools/deps.sh build $(filter-out build,$*)

build: deps-build build/release/build.ninja ## Builds the server: build/release/postrider.
	@cmake --build build/release --target postrider postrider_client -j $(JOBS) -- --quiet

run: deps-run build ## Starts a demo with sample traffic. Ctrl-C ends it.
	@$(PYTHON) tools/demo.py --binary $(BINARY) --port $(PORT)

test: deps-test build/release/build.ninja ## Builds everything and runs every test.
	@cmake --build build/release -j $(JOBS) -- --quiet
	@$(PYTHON) tools/run_tests.py --build build/release --jobs $(JOBS)

test-on-postgres: deps-test build/release/build.ninja ## Runs every real-process test on PostgreSQL.
	@cmake --build build/release -j $(JOBS) -- --quiet
	@$(PYTHON) tools/run_tests.py --build build/release --jobs $(JOBS) --suite postgres-all

test-%: deps-build build/release/build.ninja ## Runs one test program: core, engine, api, ...
	@cmake --build build/release --target $*_test -j $(JOBS) -- --quiet
	@build/release/$*_test --gtest_brief=1

bench: deps-bench build/release/build.ninja ## Measures throughput and latency beside wrk.
	@cmake --build build/release -j $(JOBS) -- --quiet
	@$(PYTHON) bench/run.py
	@$(PYTHON) bench/isolation.py
	@$(PYTHON) bench/fanout.py
	@$(PYTHON) bench/sources.py
	@$(PYTHON) bench/postgres.py

asan: deps-test build/asan/build.ninja ## Runs every test with the address sanitizer.
	@cmake --build build/asan -j $(JOBS) -- --quiet
	@$(PYTHON) tools/run_tests.py --build build/asan --jobs $(JOBS)

tsan: deps-test build/tsan/build.ninja ## Runs every test with the thread sanitizer.
	@cmake --build build/tsan -j $(JOBS) -- --quiet
	@$(PYTHON) tools/run_tests.py --build build/tsan --jobs $(JOBS)

fuzz: deps-fuzz build/fuzz/build.ninja ## Runs every fuzz target. FUZZ_SECONDS=30 for each.
	@cmake --build build/fuzz --target fuzzers -j $(JOBS) -- --quiet
	@tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

format: deps-format ## Formats every C++ file.
	@$(CLANG_FORMAT) -i

check: deps-format ## Checks format and style. Quick; continuous integration runs it.
	@$(CLANG_FORMAT) --dry-run -Werror
	@$(PYTHON) tools/tidy.py

lint: check deps-lint build/debug/build.ninja ## Runs check and clang-tidy. Slow.
	@$(PYTHON) tools/clang_tidy.py build/debug $(JOBS)

clean: ## Removes what was built.
	@rm -rf build tests/e2e/node_modules web/node_modules

# Once configured, CMake tracks its own files but not the presets.
build/%/build.ninja: CMakePresets.json | deps-build
	@echo "Configuring build/$*. Its first build takes some minutes."
	@mkdir -p $(@D)
	@cmake --preset $* >build/$*/configure.log 2>&1 || { cat build/$*/configure.log >&2; exit 1; }
	@touch $@
