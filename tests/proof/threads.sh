# Every C test under ThreadSanitizer.
# proves: include src tests
set -eu
cmake --preset tsan >/dev/null
cmake --build --preset tsan
exec tools/run-tests --c-only build/tsan
