# SPDX-License-Identifier: GPL-2.0
#
# The core of twheel in a simulated machine, as a program of the host
#
# Its sources are compiled unmodified, with include/ and that of tests/native in
# place of the kernel's headers.
#
#	make O=DIR all		simulation and simulation-rt (CONFIG_PREEMPT_RT),
#				simulation-session and simulation-session-rt
#
# BROKEN=DIR: what is in DIR is compiled instead of the source of that name, to
# DIR. All else has to be there, and no header may differ.

O ?= ../../build/simulation
TWHEEL ?= ../..

top := ../..
cflags := -std=gnu11 -g -O2 -Wall -Wextra -Wno-unused-parameter \
	  -Wno-sign-compare -DCONFIG_64BIT=1 -DCONFIG_LIST_HARDENED=1 \
	  -Iinclude -I$(top)/tests/native/include -I$(TWHEEL)/include \
	  -I$(TWHEEL) -I$(TWHEEL)/session -I.

# part_*.c include the source that they are named for.
machine := core irq sync hotplug weak main oracle_base part_share part_wheel \
	   $(addprefix twheel_,timer tick base hier hashed)
simulation := $(machine) oracle scenario
simulation-session := $(machine) twheel_chardev $(patsubst %.c,%,$(notdir \
	$(wildcard session_*.c user_*.c $(TWHEEL)/session/*.c)))
depends := $(wildcard *.h include/*/*.h include/*/*/*.h ../native/include/*/*.h \
	     $(TWHEEL)/twheel_*.[ch] $(TWHEEL)/session/*.[ch] \
	     $(TWHEEL)/include/linux/*.h $(TWHEEL)/include/uapi/linux/*.h) simulation.mk

ifdef BROKEN
broken := $(patsubst %.c,%,$(notdir $(wildcard $(BROKEN)/*.c $(BROKEN)/session/*.c)))
# part_x.c includes twheel_x.c.
broken := $(foreach n,$(broken),$(or $(filter part_$(n:twheel_%=%),$(machine)),$(n)))
objects = $(patsubst %,$(BROKEN)/$(1)/%.o,$(filter $(broken),$($(2)))) \
	  $(patsubst %,$(O)/$(1)/%.o,$(filter-out $(broken),$($(2))))
to := $(BROKEN)
cflags := -I$(BROKEN) $(cflags)
else
objects = $(patsubst %,$(O)/$(1)/%.o,$($(2)))
to := $(O)
endif

vpath %.c $(BROKEN) $(if $(BROKEN),$(BROKEN)/session) . $(TWHEEL) $(TWHEEL)/session

programs := simulation simulation-session
all: $(foreach p,$(programs),$(to)/$(p) $(to)/$(p)-rt)

define program
$(to)/$(1): $(call objects,plain,$(1))
	$$(CC) -o $$@ $$^

$(to)/$(1)-rt: $(call objects,rt,$(1))
	$$(CC) -o $$@ $$^

endef
$(foreach p,$(programs),$(eval $(call program,$(p))))

$(to)/plain/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -c -o $@ $<

$(to)/rt/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -DCONFIG_PREEMPT_RT=1 -c -o $@ $<

.PHONY: all
