# The front door: what there is to do here, each a line for CMake's presets or a script in tools/.
.PHONY: all install setup test check format fuzz bench proof clean
MINUTES ?= 1
PREFIX ?= /usr/local

all: # the program and the library as users get them: build/release/tare, build/release/libtare.a
	@tools/setup --build-only
	@cmake --preset release -DTARE_TESTS=OFF >/dev/null
	@cmake --build --preset release

install: all # program, library, headers, man pages and completion under PREFIX, in DESTDIR if one is given
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

setup: # the packages and the Python that building and testing need
	@tools/setup

test: setup # every test, built with assertions on
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev
	@tools/run-tests build/dev

check: # the rules of the house and the form of its files
	@tools/check-layers
	@tools/check-format

format: # brings C sources into form
	@tools/check-format --fix

fuzz: # each fuzz target for MINUTES of CPU time
	@tools/fuzz --minutes $(MINUTES)

bench: # speed and memory beside the peers
	@tools/bench

proof: # the long matrices, taken up where they were left
	@tools/proof

clean:
	@cmake -E rm -rf build/dev build/clang build/release build/asan build/tsan build/fuzz
