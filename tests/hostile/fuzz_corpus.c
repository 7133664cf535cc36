// SPDX-License-Identifier: GPL-2.0
/*
 * The corpus: in memory that all processes share, and in a file
 *
 * The file may come from an older fuzzer, may be cut off, or may hold anything.
 * Every tape is a valid one, as each number is taken modulo the number of
 * choices. So only sizes are checked, and what follows a bad one is ignored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"

#define MAGIC		0x32306674
/* The largest corpus that is saved. */
#define SAVED_ENTRIES	512
#define SAVED_WORDS	(1U << 18)
/* How many entries to look at for one of the right kind. */
#define LOOKS		16

/* It goes when it was replayed so often in vain. Other threads may have mattered. */
#define VAIN		2

/* The numbers before a tape in the file. */
struct header {
	__u32 kind;
	__u32 nr;
	__u32 vain;
};

static bool add(struct fuzz_corpus *corpus, const struct header *header,
		const __u32 *words)
{
	unsigned int at, number, nr = header->nr;
	struct fuzz_entry *entry;

	if (!nr || __atomic_load_n(&corpus->nr, __ATOMIC_RELAXED) >=
	    ENTRIES_OF_CORPUS - THREADS_MAX * 2 ||
	    __atomic_load_n(&corpus->used, __ATOMIC_RELAXED) >=
	    WORDS_OF_CORPUS - THREADS_MAX * 2 * TAPE_MAX)
		return false;
	at = __atomic_fetch_add(&corpus->used, nr, __ATOMIC_RELAXED);
	memcpy(corpus->words + at, words, nr * sizeof(*words));
	number = __atomic_fetch_add(&corpus->nr, 1, __ATOMIC_RELAXED);
	entry = &corpus->entries[number];
	entry->kind = header->kind;
	entry->vain = header->vain;
	entry->at = at;
	__atomic_store_n(&entry->nr, nr, __ATOMIC_RELEASE);
	return true;
}

static void read_entries(struct fuzz_corpus *corpus, FILE *file)
{
	__u32 words[TAPE_MAX];
	struct header header;

	while (fread(&header, sizeof(header), 1, file) == 1 &&
	       header.nr <= TAPE_MAX &&
	       fread(words, sizeof(*words), header.nr, file) == header.nr &&
	       add(corpus, &header, words))
		;
	corpus->loaded = corpus->nr;
}

struct fuzz_corpus *fuzz_corpus_load(const char *path)
{
	struct fuzz_corpus *corpus;
	struct header header;
	FILE *file;

	corpus = mmap(NULL, sizeof(*corpus), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (corpus == MAP_FAILED)
		abort();
	file = fopen(path, "r");
	if (!file)
		return corpus;
	if (fread(&header, sizeof(header), 1, file) == 1 &&
	    header.kind == MAGIC) {
		corpus->wanted = header.nr;
		read_entries(corpus, file);
	}
	fclose(file);
	return corpus;
}

static void write_entries(const struct fuzz_corpus *corpus, FILE *file)
{
	unsigned int i, entries = 0, words = 0;

	for (i = 0; i < corpus->nr && entries < SAVED_ENTRIES; i++) {
		const struct fuzz_entry *entry = &corpus->entries[i];
		struct header header = { entry->kind, entry->nr, entry->vain };

		if (!entry->nr || entry->vain >= VAIN ||
		    words + entry->nr > SAVED_WORDS)
			continue;
		fwrite(&header, sizeof(header), 1, file);
		fwrite(corpus->words + entry->at, sizeof(*corpus->words),
		       entry->nr, file);
		words += entry->nr;
		entries++;
	}
	printf("# corpus: %u tapes, %u numbers\n", entries, words);
}

/* Under another name until it is whole. */
void fuzz_corpus_save(struct fuzz_corpus *corpus, const char *path)
{
	struct header header = { MAGIC, corpus->reached, 0 };
	char other[256];
	FILE *file;

	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	if (!file) {
		printf("# %s cannot be written\n", other);
		return;
	}
	fwrite(&header, sizeof(header), 1, file);
	write_entries(corpus, file);
	if (!fclose(file))
		rename(other, path);
}

/* Returns whether a kind has something to replay. */
bool fuzz_corpus_has(const struct fuzz_corpus *corpus, __u32 kind)
{
	unsigned int i;

	for (i = 0; i < corpus->loaded; i++)
		if (corpus->entries[i].kind == kind)
			return true;
	return false;
}

/* The next entry that this kind has to replay, or NULL. */
struct fuzz_entry *fuzz_corpus_take(struct fuzz_corpus *corpus, __u32 kind)
{
	unsigned int i;

	do {
		i = __atomic_fetch_add(&corpus->next, 1, __ATOMIC_RELAXED);
		if (i >= corpus->loaded)
			return NULL;
	} while (corpus->entries[i].kind != kind);
	return &corpus->entries[i];
}

/* Any entry of this kind, or NULL. */
const struct fuzz_entry *fuzz_corpus_any(struct fuzz_corpus *corpus, __u32 kind,
					 unsigned int choice)
{
	unsigned int nr = __atomic_load_n(&corpus->nr, __ATOMIC_RELAXED);
	const struct fuzz_entry *entry;
	unsigned int i;

	for (i = 0; nr && i < LOOKS; i++) {
		entry = &corpus->entries[(choice + i) % nr];
		if (__atomic_load_n(&entry->nr, __ATOMIC_ACQUIRE) &&
		    entry->kind == kind)
			return entry;
	}
	return NULL;
}

void fuzz_corpus_keep(struct fuzz_corpus *corpus, __u32 kind,
		      const struct fuzz_tape *tape)
{
	struct header header = { kind, MIN(tape->at, TAPE_MAX), 0 };

	add(corpus, &header, tape->words);
}

/* Returns whether nobody has been there. */
bool fuzz_corpus_mark(struct fuzz_corpus *corpus, __u64 place)
{
	__u32 number = (place >> PLACE_SHIFT) % PLACES;
	__u32 *word = &corpus->seen[number / 32];
	__u32 bit = 1U << number % 32;

	if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit ||
	    __atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit)
		return false;
	__atomic_fetch_add(&corpus->reached, 1, __ATOMIC_RELAXED);
	return true;
}
