# SPDX-License-Identifier: GPL-2.0
#
# The core of twheel in a simulated machine, as a program of the host
#
# Its sources are compiled unmodified, with ../shims in place of the kernel's headers.
# sim_order.h, sim_machine.h and sim_session.h contain what differs from other programs. DIR/shims
# has an empty file for each header that the sources include.
#
#	make O=DIR all		simulation and simulation-rt (CONFIG_PREEMPT_RT),
#				simulation-session and simulation-session-rt
#
# BROKEN=DIR: compile each source in DIR in place of the source of the same name, and build the
# programs in DIR. All other objects must already exist, and no header may differ.

O ?= ../../../build/simulation
TWHEEL ?= ../../..

top := ../../..
cflags := -std=gnu11 -g -O2 -Wall -Wextra -Wno-unused-parameter \
	  -Wno-sign-compare -DCONFIG_64BIT=1 -DCONFIG_LIST_HARDENED=1 \
	  -include ../shims/sim_session.h -I$(O)/shims -I../shims/native -I$(TWHEEL)/include \
	  -I$(TWHEEL) -I$(TWHEEL)/core -I$(TWHEEL)/session -I. -I$(top) \
	  -idirafter $(shell $(top)/tests/vm/kernel source)/tools/include

schemes := $(shell sed -n '/twheel_hier\.o/{s/.*+= //;s/\.o//g;p}' $(TWHEEL)/Kbuild)
# part_*.c include the source that they are named for.
machine := core irq sync hotplug weak main oracle_base part_throttle part_wheel \
	   $(addprefix core/,timer tick base) $(schemes)
simulation := $(machine) oracle scenario
simulation-session := $(machine) twheel_chardev starts \
	$(patsubst %.c,%,$(wildcard session_*.c user_*.c)) \
	$(patsubst $(TWHEEL)/%.c,%,$(wildcard $(TWHEEL)/session/*.c))
names := $(addprefix linux/,atomic cache cacheinfo capability compiler cpu cpuhotplug cpumask \
	 cred debugobjects delay file fs gfp hrtimer interrupt irq_work jiffies \
	 kernel ktime lockdep miscdevice mm module moduleparam nospec nsproxy percpu pid \
	 poll preempt random rcupdate sched sched/isolation sched/signal seq_file sim slab smp \
	 spinlock time_namespace topology tracepoint uaccess uio user_namespace version wait \
	 workqueue xarray) trace/define_trace
depends := $(O)/shims/made $(wildcard *.h $(top)/tests/life/starts.h ../schemes/rng.h ../shims/*.h ../shims/*/*/*.h \
	     $(TWHEEL)/twheel_*.[ch] $(TWHEEL)/core/*.[ch] $(TWHEEL)/session/*.[ch] \
	     $(TWHEEL)/include/linux/*.h $(TWHEEL)/include/uapi/linux/*.h) simulation.mk

ifdef BROKEN
broken := $(patsubst $(BROKEN)/%.c,%,$(wildcard $(BROKEN)/*.c $(BROKEN)/*/*.c))
# part_x.c includes core/x.c.
broken := $(foreach n,$(broken),$(or $(filter part_$(n:core/%=%),$(machine)),$(n)))
objects = $(patsubst %,$(BROKEN)/$(1)/%.o,$(filter $(broken),$($(2)))) \
	  $(patsubst %,$(O)/$(1)/%.o,$(filter-out $(broken),$($(2))))
to := $(BROKEN)
cflags := -I$(BROKEN) $(cflags)
else
objects = $(patsubst %,$(O)/$(1)/%.o,$($(2)))
to := $(O)
endif

vpath %.c $(BROKEN) . $(top)/tests/life $(TWHEEL)

programs := simulation simulation-session
all: $(foreach p,$(programs),$(to)/$(p) $(to)/$(p)-rt)

define program
$(to)/$(1): $(call objects,plain,$(1))
	$$(CC) -o $$@ $$^

$(to)/$(1)-rt: $(call objects,rt,$(1))
	$$(CC) -o $$@ $$^

endef
$(foreach p,$(programs),$(eval $(call program,$(p))))

$(O)/shims/made: simulation.mk
	@rm -rf $(@D)
	@for name in $(names); do \
		mkdir -p $(@D)/$$(dirname $$name) && \
		: >$(@D)/$$name.h; \
	done
	@touch $@

$(to)/plain/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -c -o $@ $<

$(to)/rt/%.o: %.c $(depends)
	@mkdir -p $(@D)
	$(CC) $(cflags) -DCONFIG_PREEMPT_RT=1 -c -o $@ $<

.PHONY: all
