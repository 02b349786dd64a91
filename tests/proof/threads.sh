# Every C test under ThreadSanitizer.
set -eu
cmake --preset tsan >/dev/null
cmake --build --preset tsan
exec tools/run-tests --c-only build/tsan
