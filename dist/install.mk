# SPDX-License-Identifier: GPL-2.0
#
# Targets that install twheel. Included by the Makefile.

# Directory that all files are installed below, if it is set. There, all files
# except the module are below prefix.
DESTDIR ?=
prefix ?= /usr/local
# The key is not in this tree, which may be copied or published.
SIGN_KEY ?= $(HOME)/mok/mok.priv
SIGN_CERT ?= $(HOME)/mok/mok.der

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
# The release of the kernel that KDIR is for, as "uname -r" prints it. Debian's 6.1 has another name
# in include/config/kernel.release.
RELEASE = $(or $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h),$(error \
	no headers of a kernel in $(KDIR)))
# DESTDIR as an absolute path, or empty if files are installed into the system itself
root := $(filter-out /,$(abspath $(DESTDIR)))
moddir = $(root)/lib/modules/$(RELEASE)

# The files that are installed, as pairs FILE:DIRECTORY. The directories are below prefix.
headers := include/uapi/linux/twheel.h:include/linux include/linux/twheel.h:src/twheel/include/linux \
	include/linux/twheel_work.h:src/twheel/include/linux
symvers = Module.symvers:src/twheel/$(RELEASE)
dist := dist/70-twheel.rules:lib/udev/rules.d dist/sysusers.d/twheel.conf:lib/sysusers.d \
	dist/modules-load.d/twheel.conf:lib/modules-load.d \
	dist/modprobe.d/twheel.conf:share/doc/twheel/examples/modprobe.d Documentation/twheel.4:share/man/man4
# The manual page, which is installed only if "make man" built it.
built := build/man/twheel.9:share/man/man9
everything = $(headers) $(symvers) $(dist) $(built)
source = $(word 1,$(subst :, ,$(1)))
target = $(root)$(prefix)/$(word 2,$(subst :, ,$(1)))
install_files = $(foreach pair,$(1),install -D -m 644 -t $(call target,$(pair)) $(call source,$(pair)) &&) :
depmod = PATH="$$PATH:/usr/sbin:/sbin" depmod $(root:%=-b %) $(RELEASE)
depmod_makes := alias alias.bin builtin.alias.bin builtin.bin dep dep.bin devname softdep symbols symbols.bin weakdep
# Directories below prefix that uninstalling removes if they are empty. With DESTDIR it also removes
# their parents.
tools_made := include/linux lib/pkgconfig lib/cmake/libtwheel lib/cmake share/man/man1 share/man/man3 \
	share/bash-completion/completions share/bash-completion share/zsh/site-functions share/zsh \
	share/fish/vendor_completions.d share/fish
made := lib/udev/rules.d lib/udev lib/sysusers.d lib/modules-load.d share/doc share/man/man4 share/man/man9 src/twheel
parents := include lib share/man share src bin
rmdir = @for dir in $(1); do rmdir $(root)$(prefix)/$$dir; done 2>/dev/null || :
rmdir_parents = @$(if $(root),cd $(root) && rmdir -p $(addprefix $(prefix:/%=%)/,$(parents)) $(1) 2>/dev/null || :)
# Directories of tools/ with a Makefile that has the targets all, install and uninstall.
tools := $(patsubst %/Makefile,%,$(wildcard tools/*/Makefile))
in_tools = @set -e; for dir in $(tools); do $(MAKE) --no-print-directory -C $$dir DESTDIR=$(root) prefix=$(prefix) $(1); done
dkms_files := Kbuild dkms.conf dist/dkms-post-build $(filter-out %.mod.c,$(wildcard *.[ch] core/*.[ch] session/*.[ch])) \
	$(wildcard include/linux/*.h include/uapi/linux/*.h)

install: modules_install headers_install dist_install ## install it (root, or DESTDIR=; prefix=/usr/local)
	$(if $(root),,@$(MAKE) group)
	$(if $(root),,-[ ! -d /run/udev ] || udevadm control --reload)

# Make the group, by groupadd if there is no systemd.
group:
	systemd-sysusers $(prefix)/lib/sysusers.d/twheel.conf || getent group twheel >/dev/null || groupadd -r twheel

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(root) INSTALL_MOD_DIR=updates \
		CONFIG_MODULE_SIG_ALL= DEPMOD=: modules_install
	$(depmod)
	$(call install_files,$(symvers))

headers_install: ## install the headers, for programs and for modules
	$(call install_files,$(headers))

dist_install:
	$(call install_files,$(dist) $(if $(wildcard $(call source,$(built))),$(built)))
	@[ -e $(call source,$(built)) ] || echo "The manual page twheel(9), for modules, is left out: \"make man\" makes it, with Sphinx"

tools: ## build the library and the command, in build
	$(call in_tools,all)

# Not a part of "install", because tools need a compiler for programs, which a machine with only the
# module may not have.
tools_install: tools ## install them (root, or DESTDIR=; prefix=/usr/local)
	$(call in_tools,install)
	$(if $(root),,-PATH="$$PATH:/usr/sbin:/sbin" ldconfig)

tools_uninstall: ## remove what "make tools_install" with the same variables installed
	$(call in_tools,uninstall)
	$(call rmdir,$(tools_made))
	$(call rmdir_parents)

uninstall: tools_uninstall ## remove that, and what "make install" installed
	rm -f $(moddir)/updates/twheel.ko*
	rm -f $(foreach pair,$(everything),$(call target,$(pair))/$(notdir $(call source,$(pair))))
	@find $(moddir)/updates $(root)$(prefix)/src/twheel $(root)$(prefix)/share/doc/twheel \
		-depth -type d -empty -delete 2>/dev/null || :
	@if [ -e $(moddir)/modules.builtin ] || find $(moddir) -name '*.ko*' 2>/dev/null | grep -q .; then \
		echo depmod $(RELEASE); $(depmod); \
	else \
		rm -f $(addprefix $(moddir)/modules.,$(depmod_makes)); \
	fi
	$(call rmdir,$(made))
	$(call rmdir_parents,lib/modules/$(RELEASE))

sign: modules ## sign twheel.ko for Secure Boot (SIGN_KEY=~/mok/mok.priv SIGN_CERT=~/mok/mok.der)
	$(KDIR)/scripts/sign-file sha256 $(SIGN_KEY) $(SIGN_CERT) twheel.ko

# Install only the files that DKMS needs to build the module.
dkms_install:
	set -e; for file in $(dkms_files); do \
		install -D -m 644 $$file $(root)/usr/src/twheel-$(VERSION)/$$file; \
	done
	chmod 755 $(root)/usr/src/twheel-$(VERSION)/dist/dkms-post-build

deb: ## the Debian packages, in build/deb
	@tests/vm/setup deb docs
	$(MAKE) man
	rm -rf build/deb
	@dist/release build/deb/twheel
	cp -r build/man build/deb/twheel/dist
	cd build/deb/twheel && dpkg-buildpackage -us -uc

dist: ## the release, build/twheel-VERSION.tar.xz: the same bytes from the same sources
	@dist/release

.PHONY: install group modules_install headers_install dist_install tools tools_install \
	tools_uninstall uninstall sign dkms_install deb dist
