# A thousand kills of a process that writes: never a torn file, never more than its own temporary left behind.
# proves: src/base tests/base/test_file_write.c tests/support
set -eu
cmake --preset dev >/dev/null
cmake --build --preset dev --target test_base_file_write
TARE_KILLS=1000 build/dev/tests/test_base_file_write
