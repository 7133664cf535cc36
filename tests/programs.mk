# SPDX-License-Identifier: GPL-2.0
#
# Variables and rules that the Makefiles of static programs share
#
# "make" builds $(O)/PART/NAME: static programs that need only the kernel in the guest. A Makefile
# that includes this file sets "here" to its directory, and calls "program" for each program. It
# leaves out programs that need a library that is not installed.

part := $(notdir $(here:/=))
top := $(abspath $(here)../../..)
O ?= $(top)/build/bin
out := $(O)/$(part)
objects := $(abspath $(O)/../obj/$(part))
libtwheel := $(top)/tools/libtwheel
library := $(objects)/libtwheel.a

CC = gcc
CFLAGS ?= -O2
override CFLAGS += -D_GNU_SOURCE -pthread -Wall -Wextra -Wno-unused-parameter -Werror \
	-I$(top)/include/uapi -I$(libtwheel)
# Silences the linker about look-ups of hosts and users, which are not used.
link := -static -pthread -Wl,--no-warnings -s

headers := $(wildcard $(here)*.h $(here)../*.h $(top)/tests/api/selftests/*.h) $(top)/include/uapi/linux/twheel.h

# have HEADER: y if the compiler finds HEADER
have = $(shell $(CC) -E -include $(1) -x c /dev/null >/dev/null 2>&1 && echo y)

# program NAME SOURCES [OPTIONS] [LIBRARIES]
define program
programs += $(1)
$(out)/$(1): $(addprefix $(here),$(2)) $(headers) $(filter $(objects)/%,$(4)) | $(out)
	$(CC) -std=gnu11 $(CFLAGS) $(3) $(link) -o $$@ $$(filter %.c,$$^) $(4)
endef

all:

$(library): $(addprefix $(top)/,$(shell $(libtwheel)/amalgamate sources)) | $(out)
	$(MAKE) -C $(libtwheel) O=$(@D) CC=$(CC) CFLAGS=-O2 $@

$(out):
	mkdir -p $@ $(objects)

.PHONY: all
