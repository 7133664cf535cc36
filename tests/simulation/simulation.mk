# SPDX-License-Identifier: GPL-2.0
#
# The core of twheel in a simulated machine, as a program of the host
#
# Its sources are compiled unmodified, with include/ and that of tests/native in
# place of the kernel's headers.
#
#	make O=DIR all		simulation and simulation-rt (CONFIG_PREEMPT_RT)
#
# BROKEN=DIR: what is in DIR is compiled instead of the source of that name, to
# DIR. All else has to be there, and no header may differ.

O ?= ../../build/simulation
TWHEEL ?= ../..

top := ../..
cflags := -std=gnu11 -g -O2 -Wall -Wextra -Wno-unused-parameter \
	  -Wno-sign-compare -DCONFIG_64BIT=1 -DCONFIG_LIST_HARDENED=1 \
	  -Iinclude -I$(top)/tests/native/include -I$(TWHEEL)/include \
	  -I$(TWHEEL) -I.

# part_*.c include the source that they are named for.
sources := $(wildcard *.c) \
	   $(patsubst %,$(TWHEEL)/twheel_%.c,timer tick base hier hashed)
depends := $(wildcard *.h include/*/*.h ../native/include/*/*.h \
	     $(TWHEEL)/twheel_*.[ch] $(TWHEEL)/include/linux/*.h) simulation.mk

names := $(patsubst %.c,%,$(notdir $(sources)))
ifdef BROKEN
broken := $(patsubst $(BROKEN)/%.c,%,$(wildcard $(BROKEN)/*.c))
# part_x.c includes twheel_x.c.
broken := $(foreach n,$(broken),$(or $(filter part_$(n:twheel_%=%),$(names)),$(n)))
objects = $(patsubst %,$(BROKEN)/$(1)/%.o,$(broken)) \
	  $(patsubst %,$(O)/$(1)/%.o,$(filter-out $(broken),$(names)))
to := $(BROKEN)
cflags := -I$(BROKEN) $(cflags)
else
objects = $(patsubst %,$(O)/$(1)/%.o,$(names))
to := $(O)
endif

vpath %.c $(BROKEN) . $(TWHEEL)

all: $(to)/simulation $(to)/simulation-rt

$(to)/simulation: $(call objects,plain)
	$(CC) -o $@ $^

$(to)/simulation-rt: $(call objects,rt)
	$(CC) -o $@ $^

$(to)/plain/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -c -o $@ $<

$(to)/rt/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -DCONFIG_PREEMPT_RT=1 -c -o $@ $<

.PHONY: all
