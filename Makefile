# SPDX-License-Identifier: GPL-2.0
#
# Commands that a person types; "make help" lists them. Kbuild has the objects
# of the module.

KDIR ?= /lib/modules/$(shell uname -r)/build

# for the virtual machine
KERNEL ?= stock-6.12
# for the demo; 0 is as many as the machine carries, 6,000 at most
CONNECTIONS ?= 0
# for the demo of Redis
KEYS ?= 100000
SCHEME ?= hier
MODE ?= periodic
# for the soak
HOURS ?= 8

modules: ## build twheel.ko for the running kernel (KDIR=... for another)
	@[ -e $(KDIR)/Makefile ] || { \
		echo "No headers of a kernel in $(KDIR). Debian has those of its kernels in linux-headers-amd64;"; \
		echo "KDIR= names the headers of another kernel. These are installed:"; \
		ls -d $(dir $(patsubst %/,%,$(dir $(KDIR))))*/build 2>/dev/null || echo "none"; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# install, headers_install, tools, tools_install, tools_uninstall, uninstall, sign,
# dkms_install, deb, dist
include dist/install.mk

try: ## a TCP server with 10,000 idle timeouts: no module, no VM, any user
	@tests/clients/demo/try

amalgamation: ## libtwheel as build/twheel.[ch], its timers as build/twheel_timer.[ch], to copy into a program
	@mkdir -p build
	@tools/libtwheel/amalgamate c >build/twheel.c
	@tools/libtwheel/amalgamate h >build/twheel.h
	@tools/libtwheel/amalgamate timer-c >build/twheel_timer.c
	@tools/libtwheel/amalgamate timer-h >build/twheel_timer.h

bindings: ## those for C++, Python, Go, Rust and Java with the library in each, in build/bindings
	@rm -rf build/bindings
	@tools/uapi --library bindings build/bindings

demo: ## a TCP server with thousands of idle timeouts, in a VM (CONNECTIONS= SCHEME= MODE=)
	@tests/vm/run -k $(KERNEL) -t 240 -- 'MODULE_ARGS="scheme=$(SCHEME) mode=$(MODE)" demo $(CONNECTIONS)'

demo-mosquitto: ## an MQTT broker of Debian's, as it is and punctual with twheel, in a VM
	@tests/clients/mosquitto/run demo

demo-redis: ## keys that expire in Redis of Debian's, as it is and with twheel, in a VM (KEYS=100000)
	@tests/clients/redis/run demo $(KEYS)

check: ## what finds most defects, in VMs, in a quarter of an hour; installs what that needs
	@tests/check

check-all: ## every test, in an hour
	@tests/check --all

check-fast: ## style, builds, units, 2,000 seeds of the simulation, documents, in half a minute
	@tests/check --fast

check-arch: ## on another machine, emulated: ARCH=i386 s390x arm64 armhf ppc64le
	@tests/check $(or $(ARCH),$(error ARCH= names machines of tests/vm/machines))

kunit: ## the KUnit suites by the kernel's kunit.py, in a user-mode kernel, in a minute
	@tests/vm/setup own
	@tests/wheel/kunit/um

in-tree: ## the wheels as lib/twheel in a kernel's sources: KERNEL_TREE=dir
	@dist/kernel/in-tree "$(or $(KERNEL_TREE),$(error KERNEL_TREE= names a tree of the kernel))"

series: ## the same as patches for 6.12 (build/series) and for the newest kernel (build/series-new)
	@tests/vm/setup port
	@dist/kernel/series
	@dist/kernel/series source-new

coverage: ## lines and branches that the tests run, per file (build/coverage/missed)
	@tests/check $(addsuffix -gcov,kunit selftests client parameters torture life) coverage
	@grep -E '^# (twheel|core|session)' build/logs/coverage.log

test: ## one test: NAME= a stage, program, program:case or KUnit suite (KERNEL=)
	@tests/vm/test "$(NAME)" $(if $(filter command environment,$(origin KERNEL)),$(KERNEL))

# as it is: a $ in it is the shell's
vm: export TWHEEL_RUN := $(value RUN)
vm: ## a shell in a VM, or RUN='command'; FILES='your files' go in (KERNEL= MEM=2G CPUS=4)
	@tests/vm/run $(MEM:%=-m %) $(CPUS:%=-c %) -k $(KERNEL) $(FILES:%=-f %) $(if $(value RUN),-- "$$TWHEEL_RUN",-s)

bench: ## what each operation of a module costs, beside timer_list and hrtimer (KERNEL=)
	@tests/vm/setup vm bench
	@tests/bench/run -k $(KERNEL)

bench-user: ## what each operation of a program costs, beside timerfd and libevent (KERNEL=)
	@tests/vm/setup vm bench
	@tests/bench/bench-user/run -k $(KERNEL)

.PHONY: bench-all
bench-all: ## all timers of programs on one trace (PART='life mixed', see tests/bench/compared/run)
	@tests/vm/setup vm compared
	@tests/bench/compared/run -k $(KERNEL) $(PART)

.PHONY: port-sweep
port-sweep: ## port some ninety directories of Linux by the script, compile what changes
	@tests/vm/setup all
	@tests/clients/port/sweep

mutants: ## break twheel on purpose, a hundred times, see each defect found (NAMES= LIST=1 MADE=SEED FILES=)
	@$(if $(MADE),tests/vm/setup mutants)
	@FILES="$(FILES)" tests/mutants/run $(if $(LIST),-l) $(if $(MADE),-g $(MADE)) $(NAMES)

torture: ## ten minutes of torture on both of our debug kernels
	@tests/vm/run -k debug -t 900 -- 'torture seconds=600 hotplug_ms=500 && leaks'
	@tests/vm/run -k kcsan -t 900 -- 'torture seconds=600 hotplug_ms=500'

soak: ## everything at once, for HOURS=8 (failures in build/soak)
	@tests/soak $(HOURS)

fuzz: ## ten minutes of libFuzzer: the wheels' arithmetic, sessions in the process
	@tests/vm/setup vm native
	@$(MAKE) -s -C tests/wheel/native fuzz
	@tests/life/run 600

docs html: ## Documentation/ as HTML, from build/html/index.html on
	@tests/vm/setup docs
	sphinx-build -q -W -b html Documentation build/html
	@echo "The first page is build/html/index.html"

man: ## twheel(9) of the manual, in build/man
	@tests/vm/setup docs
	sphinx-build -q -W -t man -b man Documentation build/man
	@echo "The page is build/man/twheel.9"
.PHONY: man

clean: ## remove what was built (kernels stay in the cache)
	rm -rf build
	find . -name .git -prune -o -type f ! -name go.mod \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name '.*.d' -o -name '*.gcno' -o -name Module.symvers \
		-o -name modules.order \) -exec rm -f {} +

help: ## this
	@echo 'make && sudo insmod twheel.ko'
	@awk -F ':.*## ' '/^[a-z].*:.*## / {printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo 'Kernels: stock-6.12 stock-6.1 stock-6.12-rt stock-6.12-arm64 stock-6.1-i386 stock-6.1-s390x stock-new debug debug-new kcsan, kept in ~/.cache/twheel'

.PHONY: kunit in-tree series modules try amalgamation bindings demo demo-mosquitto demo-redis check check-all check-fast check-arch coverage \
	test vm bench \
	bench-user mutants torture soak fuzz docs html clean help
