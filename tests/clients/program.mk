# SPDX-License-Identifier: GPL-2.0
#
# Included by the Makefiles of clients that are a static program each. "make" builds it
# into $(O), in a directory of the client's name.

here := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
client := $(notdir $(here:%/=%))
program := $(basename $(notdir $(wildcard $(here)*.c)))
O ?= $(here)../../../build/bin
dir := $(abspath $(O))/$(client)

CC = gcc
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 -D_GNU_SOURCE -static -Wall -Wextra -Werror

all: $(dir)/$(program)

$(dir)/$(program): $(here)$(program).c $(wildcard $(here)../*.h) $(here)../../api/selftests/user.h
	mkdir -p $(dir)
	$(CC) $(CFLAGS) -o $@ $<

clean:
	rm -rf $(dir)

.PHONY: all clean
