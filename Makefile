# SPDX-License-Identifier: GPL-2.0
#
# What a person types; "make help" says what there is.  What the module is made
# of is in Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build

# for the virtual machine
KERNEL ?= stock-6.12
# for the demo
CONNECTIONS ?= 6000
# for the demo of a broker
CLIENTS ?= 100 10000
SCHEME ?= hier
MODE ?= periodic
# for the soak
HOURS ?= 8

modules: ## build twheel.ko for the running kernel (KDIR=... for another)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# install, headers_install, tools, tools_install, tools_uninstall, uninstall, sign,
# dkms_install, deb
include dist/install.mk

demo: ## a TCP server with 6,000 idle timeouts, in a VM (CONNECTIONS= SCHEME= MODE=)
	@tests/vm/run -k $(KERNEL) -t 240 -- 'MODULE_ARGS="scheme=$(SCHEME) mode=$(MODE)" demo $(CONNECTIONS)'

demo-mosquitto: ## an MQTT broker of Debian's, as it is and with twheel, in a VM (CLIENTS='100 10000')
	@tests/mosquitto/run demo $(CLIENTS)

check: ## every test, in VMs; installs what that needs
	@tests/check

check-quick: ## the most telling of them, in three minutes
	@tests/check --quick

coverage: ## lines and branches that the tests run, per file (build/coverage/missed)
	@tests/check $(addsuffix -gcov,kunit selftests client parameters torture hostile) coverage
	@grep -E '^# (twheel|session)' build/logs/coverage.log

test: ## one test: NAME= a stage, program, program:case or KUnit suite (KERNEL=)
	@tests/vm/test "$(NAME)" $(if $(filter command environment,$(origin KERNEL)),$(KERNEL))

# as it is: a $ in it is the shell's
vm: export TWHEEL_RUN := $(value RUN)
vm: ## a shell in a VM, or RUN='command'; FILES='your files' go in (KERNEL=)
	@tests/vm/shell $(KERNEL) $(FILES)

bench: ## what each operation costs, beside timer_list and hrtimer
	@tests/vm/setup vm bench
	@tests/bench/run

bench-user: ## the user API beside timerfd, POSIX timers, io_uring, libevent, libuv
	@tests/vm/setup vm bench
	@tests/bench-user/run

torture: ## ten minutes of torture on both of our debug kernels
	@tests/vm/run -k debug -t 900 -- 'torture seconds=600 hotplug_ms=500 && leaks'
	@tests/vm/run -k kcsan -t 900 -- 'torture seconds=600 hotplug_ms=500'

soak: ## everything at once, for HOURS=8 (report in build/soak)
	@tests/soak $(HOURS)

fuzz: ## ten minutes of fuzzing the wheels' arithmetic
	@tests/vm/setup vm native
	@$(MAKE) -s -C tests/native fuzz

docs html: ## Documentation/ as HTML in build/html
	@tests/vm/setup docs
	sphinx-build -q -W -b html Documentation build/html

man: ## the manual, twheel(4) and twheel(9), in build/man
	@tests/vm/setup docs
	sphinx-build -q -W -t man -b man Documentation build/man
.PHONY: man

clean: ## remove what was built (kernels stay in the cache)
	rm -rf build
	find . -name .git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name '.*.d' -o -name '*.gcno' -o -name Module.symvers \
		-o -name modules.order \) -exec rm -f {} +

help: ## this
	@echo 'make && sudo insmod twheel.ko'
	@awk -F ':.*## ' '/^[a-z].*:.*## / {printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo 'Kernels: stock-6.12 stock-6.1 stock-6.12-rt stock-6.12-arm64 stock-new debug kcsan, kept in ~/.cache/twheel'

.PHONY: modules demo demo-mosquitto check check-quick coverage test vm bench \
	bench-user torture soak fuzz docs html clean help
