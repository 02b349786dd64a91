# The tests of base under Valgrind, which sees what sanitizers do not: values that were never set.
# proves: src/base tests/base tests/support
set -eu
cmake --preset dev >/dev/null
cmake --build --preset dev
for name in field log map memory path size status text; do
    valgrind -q --error-exitcode=1 --leak-check=full --exit-on-first-error=yes "build/dev/tests/test_base_$name"
done
