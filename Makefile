# SPDX-License-Identifier: Apache-2.0
# The short way to everything; Meson does the work. `make help` tells what there is.

BUILD ?= build
MESON ?= meson
NINJA ?= ninja
PREFIX ?= /usr/local

all: build

build: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)

$(BUILD)/build.ninja: | deps
	@$(MESON) setup $(BUILD) --prefix=$(PREFIX)

deps:
	@tools/install-deps build

test-deps:
	@tools/install-deps build test

# Live watts; with SECONDS=n, for that long.
run: deps build
	@$(BUILD)/cli/wattribute top $(if $(SECONDS),--seconds $(SECONDS))

# An agent and a fleet that is made up, with their pages; with SECONDS=n, for that long.
demo: deps build
	@tools/demo $(if $(SECONDS),--seconds $(SECONDS)) $(BUILD)

# With REQUIRE=1 what is missing here fails and is not skipped.
test: test-deps
	@tools/run-tests $(if $(REQUIRE),--require)

test-all: test-deps
	@tools/run-tests --all $(if $(REQUIRE),--require)

check: test-deps
	@tools/run-tests checks api cppcheck tidy

fuzz: test-deps
	@tools/run-tests fuzz

# How much each rule misplaces where the truth is known; writes the table of docs/attribution.md.
accuracy: test-deps build
	@tests/accuracy/worlds $(BUILD)/tests/accuracy/learned_worlds $(BUILD)/tests/accuracy/learned_kinds

bench: deps build
	@tests/bench/run $(BUILD)

install: build
	@$(MESON) install -C $(BUILD) --no-rebuild
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

clean:
	rm -rf build build-*

help:
	@echo 'make                  build the library and the command in $(BUILD)/'
	@echo 'make run [SECONDS=n]  show live watts (for n seconds)'
	@echo 'make demo [SECONDS=n] agents of this machine and of a made-up fleet, and their pages'
	@echo 'make test             what a red product cannot pass; the last line counts them'
	@echo 'make test-all         every test that there is, on every kernel'
	@echo 'make check            format, layers, sizes, units, sources, man pages, static analysis'
	@echo 'make fuzz             fuzz every parser for a short time'
	@echo 'make bench            measure what measuring costs'
	@echo 'make accuracy         measure what is misplaced where the truth is known'
	@echo 'make install          install (PREFIX=$(PREFIX), DESTDIR=)'
	@echo 'make clean            remove everything that was built'
	@echo
	@echo 'As root, these install the Debian packages that are missing, and say which.'

.PHONY: all build deps test-deps run demo test test-all check fuzz accuracy bench install clean help
