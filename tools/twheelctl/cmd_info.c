// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl info: what the module and its device offer
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twheel.h>

#include "ctl.h"
#include "output.h"

#define MODULE		"/sys/module/twheel/"
#define PARAMETERS	MODULE "parameters"

static const struct {
	__u64 bit;
	const char *name;
} features[] = {
	{ TWHEEL_FEATURE_NOWAIT, "nowait" },
	{ TWHEEL_FEATURE_SHARED, "shared" },
};

/* Names of schemes and modes, by the numbers that the module reports. */
static const char * const schemes[] = { "hier", "hashed", NULL };
static const char * const modes[] = { "periodic", "tickless", NULL };

#define NR_FEATURES	ARRAY_SIZE(features)

/* Read the first line of a file in sysfs. Returns false if it cannot be read. */
static bool read_line(const char *directory, const char *name, char *line,
		      int size)
{
	char path[512];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fgets(line, size, file);
	fclose(file);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

bool ctl_module_version(char *version, int size)
{
	return read_line(MODULE, "version", version, size);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

typedef void show_fn(const char *name, const char *value);

static void show_parameter(const char *name, show_fn *show)
{
	char line[128];

	if (read_line(PARAMETERS, name, line, sizeof(line)))
		show(name, line);
}

/* Calls @show for each parameter that can be read, in the order of the names. */
static void show_parameters(show_fn *show)
{
	struct dirent **names;
	int nr = scandir(PARAMETERS, &names, is_visible, alphasort);
	int i;

	for (i = 0; i < nr; i++) {
		show_parameter(names[i]->d_name, show);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/* Returns the name of a number. A newer module may have numbers without a name here. */
static const char *name_of(const char *const *names, __u32 number)
{
	while (*names && number--)
		names++;
	return *names ?: "unknown";
}

static void print_json(const struct twheel_info *info, const char *version)
{
	size_t i;

	json_open(NULL, '{');
	json_string("version", version);
	json_number("abi_version", info->abi_version);
	json_open("features", '[');
	for (i = 0; i < NR_FEATURES; i++) {
		if (info->features & features[i].bit)
			json_string(NULL, features[i].name);
	}
	json_close(']');
	json_string("scheme", name_of(schemes, info->scheme));
	json_string("mode", name_of(modes, info->mode));
	json_number("tick_ns", info->tick_ns);
	json_number("slots", info->slots);
	json_number("max_timers", info->max_timers);
	json_number("max_batch", info->max_batch);
	json_number("max_interval_ns", info->max_interval_ns);
	json_number("event_size", info->event_size);
	json_open("parameters", '{');
	show_parameters(json_string);
	json_close('}');
	json_close('}');
	json_end();
}

static void title(const char *text)
{
	printf("%s%s%s\n", out_bold(), text, out_plain());
}

static void print_line(const char *name, const char *value)
{
	printf("  %-20s %s\n", name, out_printable(value));
}

static void print_number(const char *name, __u64 value)
{
	printf("  %-20s %llu\n", name, value);
}

static void print_text(const struct twheel_info *info, const char *version)
{
	size_t i;

	title("module");
	print_line("version", version);
	print_number("ABI version", info->abi_version);
	printf("  %-20s", "features");
	for (i = 0; i < NR_FEATURES; i++) {
		if (info->features & features[i].bit)
			printf(" %s", features[i].name);
	}
	putchar('\n');
	title("\nwheel of a session");
	print_line("scheme", name_of(schemes, info->scheme));
	print_line("mode", name_of(modes, info->mode));
	print_line("tick", out_time(info->tick_ns));
	if (info->slots)
		print_number("slots", info->slots);
	title("\nlimits");
	print_number("timers of a session", info->max_timers);
	print_number("operations of a call", info->max_batch);
	printf("  %-20s %.0f years\n", "interval",
	       info->max_interval_ns / (365.25 * 86400e9));
	title("\nparameters");
	show_parameters(print_line);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "unexpected: %s", arg);
	return 0;
}

int cmd_info(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.doc = "Show what the module offers, its limits and its parameters.",
		.children = ctl_common_argp,
	};
	char version[64] = "unknown";
	struct twheel_info info;
	struct twheel *twheel;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	ret = twheel_open_flags(&twheel, NULL, TWHEEL_OPEN_KERNEL);
	if (!ret)
		ret = twheel_info(twheel, &info);
	if (ret < 0)
		ctl_die_errno(CTL_DEVICE, -ret);
	twheel_close(twheel);
	ctl_module_version(version, sizeof(version));
	if (common->json)
		print_json(&info, version);
	else
		print_text(&info, version);
	return CTL_OK;
}
