# Every fuzz target for FUZZ_MINUTES (10) minutes of CPU without a finding.
set -eu
exec tools/fuzz --minutes "${FUZZ_MINUTES:-10}"
