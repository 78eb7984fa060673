module coder-stack.local/toolchain/coder-api

go 1.26.0
