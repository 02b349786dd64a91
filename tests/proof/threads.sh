# Every C test under ThreadSanitizer.
# proves: include src tests
set -eu
cmake --preset tsan >/dev/null
cmake --build --preset tsan
export TSAN_OPTIONS=suppressions=$PWD/tests/proof/threads.supp
exec tools/run-tests --c-only build/tsan
