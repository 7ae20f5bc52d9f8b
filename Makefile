# SPDX-License-Identifier: Apache-2.0
#
# One file, out of tree: everything is made in build/$(CC)[-san].
#
#   make            the programs            make check        unit tests, then the bats suites
#   make unit       unit tests only         make integration  the bats suites only
#   make demo       the demonstration       make bench        ratios against the floor and the peers
#   make lint       layers, sizes, headers  make fuzz T=60    each fuzzer for T seconds (clang)
#   make install DESTDIR=                   make fmt          clang-format over the tree
#
# SAN=address,undefined builds with sanitizers; WERROR=1 is what CI uses.

CC := gcc
SAN :=
BUILD := build/$(notdir $(CC))$(if $(SAN),-san)
VERSION := $(shell cat VERSION)

prefix := /usr/local
bindir := $(prefix)/bin
libexecdir := $(prefix)/libexec/osh-runtime
mandir := $(prefix)/share/man
DESTDIR :=

# ---------------------------------------------------------------- flags

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wvla -Wcast-qual -Wpointer-arith \
	-Wwrite-strings -Wundef -Wformat=2 -Wimplicit-fallthrough \
	-Wframe-larger-than=16384 -Wdate-time
HARDEN := -O2 -g -D_FORTIFY_SOURCE=3 -fstack-protector-strong \
	-fstack-clash-protection -fcf-protection=full -fno-strict-aliasing \
	-fno-common -fno-delete-null-pointer-checks -fvisibility=hidden \
	-ffunction-sections -fdata-sections
LINK := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs,--as-needed,--gc-sections

ifneq ($(findstring clang,$(CC)),)
WARN += -Wcomma -Wassign-enum
else
WARN += -Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	-Wformat-signedness
HARDEN += -ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr
endif

ifeq ($(SAN),)
# gcc's sanitizers make -Wconversion warn on code that is right
WARN += -Wconversion -Wsign-conversion
HARDEN += -fPIE
PIE := -pie
STATIC := -static-pie
else
HARDEN := -O1 -g -fno-omit-frame-pointer -fno-common -fPIE \
	-fsanitize=$(SAN) -fno-sanitize-recover=all
LINK := -fsanitize=$(SAN)
PIE := -pie
STATIC := -pie
endif
WERROR := $(if $(SAN),,1)

CPPFLAGS := -D_GNU_SOURCE -I. -include runtime/base/banned.h \
	-DOSH_VERSION='"$(VERSION)"' -DOSH_LIBEXECDIR='"$(libexecdir)"'
CFLAGS := -std=gnu11 $(WARN) $(HARDEN) $(if $(WERROR),-Werror)
LDFLAGS := $(LINK)

# ---------------------------------------------------------------- layers

# Each layer is one archive. A layer's unit tests link it and the layers below
# it only, so that an upward call fails to link there.

layer_src = $(filter-out %_test.c %_fixture.c %_fuzz.c %_main.c,\
	$(wildcard $(1)/*.c))
# what several of a layer's tests share
fixtures = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/*_fixture.c))

BASE := runtime/base
DOC := runtime/doc
OCI := runtime/oci
POLICY := runtime/policy
LINUX := runtime/linux
PLAN := runtime/plan
CONTAINER := runtime/container
CMD := runtime/cmd
COMPILER := policy-compiler
SHIM_DIRS := shim/ipc shim/log shim/nft shim/notify shim/dns shim

LAYERS := $(BASE) $(DOC) $(OCI) $(POLICY) $(LINUX) $(PLAN) $(CONTAINER) \
	$(CMD) $(COMPILER) $(SHIM_DIRS)

# what a layer's programs and tests link, in link order
dep_runtime/base := runtime/base
dep_runtime/doc := runtime/doc runtime/base
dep_runtime/oci := runtime/oci runtime/doc runtime/base
dep_runtime/policy := runtime/policy runtime/base
dep_runtime/linux := runtime/linux runtime/base
dep_runtime/plan := runtime/plan runtime/oci runtime/policy runtime/doc \
	runtime/base
dep_runtime/container := runtime/container runtime/plan runtime/linux \
	runtime/oci runtime/policy runtime/doc runtime/base
dep_runtime/cmd := runtime/cmd $(dep_runtime/container)
dep_policy-compiler := policy-compiler runtime/doc runtime/policy runtime/base
dep_shim/ipc := shim/ipc runtime/policy runtime/base
dep_shim/log := shim/log runtime/policy runtime/base
dep_shim/nft := shim/nft runtime/base
dep_shim/notify := shim/notify shim/log shim/nft shim/ipc runtime/policy \
	runtime/base
dep_shim/dns := shim/dns shim/ipc runtime/policy runtime/base
dep_shim := shim shim/notify shim/dns shim/log shim/nft shim/ipc \
	runtime/policy runtime/base

lib_runtime/base := -lsodium
lib_runtime/doc := -lyaml -lyajl_s -lsodium
lib_runtime/oci := $(lib_runtime/doc)
lib_runtime/policy := -lsodium
lib_runtime/linux := -lseccomp -lcap -lsodium
lib_runtime/plan := $(lib_runtime/doc)
lib_runtime/container := -lseccomp -lcap $(lib_runtime/doc)
lib_runtime/cmd := $(lib_runtime/container)
lib_policy-compiler := -lseccomp $(lib_runtime/doc)
lib_shim/ipc := -lsodium
lib_shim/log := -lsodium
lib_shim/nft := -lmnl -lsodium
lib_shim/notify := -lmnl -lsodium
lib_shim/dns := -lresolv -lsodium
lib_shim := -lmnl -lresolv -lsodium

archive = $(BUILD)/$(subst /,_,$(1)).a
archives = $(foreach l,$(1),$(call archive,$(l)))

# ---------------------------------------------------------------- programs

PROGRAMS := osh-runtime osh-policy osh-shim osh-resolver

main_osh-runtime := runtime/cmd/osh_runtime_main.c
main_osh-policy := policy-compiler/osh_policy_main.c
main_osh-shim := shim/osh_shim_main.c
main_osh-resolver := shim/osh_resolver_main.c
of_osh-runtime := runtime/cmd
of_osh-policy := policy-compiler
of_osh-shim := shim
of_osh-resolver := shim/dns
# Debian has no libmnl.a: the shim stays dynamic
mode_osh-runtime := $(STATIC)
mode_osh-policy := $(STATIC)
mode_osh-shim := $(PIE)
# the resolver runs where there is no library to load
mode_osh-resolver := $(STATIC)

BUILT := $(foreach p,$(PROGRAMS),$(if $(wildcard $(main_$(p))),$(BUILD)/$(p)))

all: $(BUILT)

TESTS := $(foreach l,$(LAYERS),$(wildcard $(l)/*_test.c))
TEST_BINS := $(TESTS:%.c=$(BUILD)/%)

.SECONDEXPANSION:
.DELETE_ON_ERROR:
.SUFFIXES:

# V=1 shows the commands
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2))

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define layer_rule
$(call archive,$(1)): $(patsubst %.c,$(BUILD)/%.o,$(call layer_src,$(1)))
	@rm -f $$@
	@mkdir -p $$(@D)
	$$(call say,AR,$$@)
	$(Q)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

define program_rule
$(BUILD)/$(1): $(patsubst %.c,$(BUILD)/%.o,$(main_$(1))) \
		$(call archives,$(dep_$(of_$(1))))
	$$(call say,LD,$$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(mode_$(1)) -o $$@ $$< \
		$(call archives,$(dep_$(of_$(1)))) $(lib_$(of_$(1)))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

define test_rule
$(BUILD)/$(1)/%_test: $(BUILD)/$(1)/%_test.o $(call fixtures,$(1)) \
		$(call archives,$(dep_$(1)))
	$$(call say,LD,$$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(PIE) -o $$@ $$< \
		$(call fixtures,$(1)) $(call archives,$(dep_$(1))) \
		$(lib_$(1)) -lcmocka
endef
$(foreach l,$(LAYERS),$(eval $(call test_rule,$(l))))

# fuzzers: clang only, SAN=fuzzer-no-link,address,undefined (see hack/fuzz)
FUZZ := $(foreach l,$(LAYERS),$(wildcard $(l)/*_fuzz.c))
FUZZ_BINS := $(FUZZ:%.c=$(BUILD)/%)

define fuzz_rule
$(BUILD)/$(1)/%_fuzz: $(BUILD)/$(1)/%_fuzz.o $(call archives,$(dep_$(1)))
	$$(call say,LD,$$@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $(PIE) -o $$@ $$< \
		$(call archives,$(dep_$(1))) $(lib_$(1))
endef
$(foreach l,$(LAYERS),$(eval $(call fuzz_rule,$(l))))

fuzzers: $(FUZZ_BINS)

.SECONDARY: $(TEST_BINS:%=%.o) $(FUZZ_BINS:%=%.o) \
	$(foreach l,$(LAYERS),$(call fixtures,$(l)))

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# ---------------------------------------------------------------- verbs

unit: $(TEST_BINS)
	hack/unit $(BUILD)

integration: all
	OSH_BUILD=$(abspath $(BUILD)) integration/run

check: lint all unit integration

lint:
	hack/lint

fmt:
	git ls-files '*.c' '*.h' | xargs clang-format -i

demo: all
	OSH_BUILD=$(abspath $(BUILD)) hack/demo

bench: all
	OSH_BUILD=$(abspath $(BUILD)) hack/bench

# FUZZ: libFuzzer where clang is at hand, T seconds for each
T := 60
fuzz:
	hack/fuzz $(T)

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libexecdir) \
		$(DESTDIR)$(mandir)/man8 $(DESTDIR)$(mandir)/man1 \
		$(DESTDIR)$(mandir)/man5
	install -m 755 $(BUILD)/osh-runtime $(BUILD)/osh-policy \
		$(DESTDIR)$(bindir)/
	install -m 755 $(BUILD)/osh-shim $(BUILD)/osh-resolver \
		$(DESTDIR)$(libexecdir)/
	install -m 644 runtime/cmd/osh-runtime.8 $(DESTDIR)$(mandir)/man8/
	install -m 644 policy-compiler/osh-policy.1 $(DESTDIR)$(mandir)/man1/
	install -m 644 policy-compiler/osh-policy.yaml.5 $(DESTDIR)$(mandir)/man5/

clean:
	rm -rf $(BUILD)

.PHONY: all fuzzers unit integration check lint fmt demo bench fuzz install clean
