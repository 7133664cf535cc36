// SPDX-License-Identifier: GPL-2.0
/*
 * Weak memory: a lockless read may find an older value
 *
 * A store is in memory at once, and the values before it are remembered. A read
 * by a CPU that need not know of the store may still return one of these values.
 * That stands for store buffers as well as for reads out of order, because a
 * reader cannot tell them apart.
 *
 * The knowledge of a CPU. Each CPU numbers its stores. A clock says for each
 * CPU how many of its stores are known. A CPU may not read a value that was
 * overwritten by a store it knows, nor an older value than it last read or wrote
 * at the same place. A store carries a clock: the stores that come before it in
 * the order that barriers make. A CPU that reads the store knows these stores
 * after a barrier of its own. Such pairs are a release and an acquire, smp_wmb()
 * and smp_rmb(), or two full barriers.
 *
 * This memory is nowhere weaker than the kernel's memory model (LKMM) allows,
 * and stronger where that is simpler:
 *
 * - Stores to one place have the order in which they are made.
 *
 * - A read never has a value of the future. A dependency is then as good as a
 *   barrier to a store.
 *
 * - A release of a CPU that read a store also tells of everything that the CPU of
 *   the store did before the store.
 *
 * - A CPU knows all stores when a task begins to run on it, when an interrupt of
 *   another CPU arrives, at the locks of CPU hotplug, and when a grace period ends.
 *   When a grace period begins, all other CPUs learn what its CPU knows.
 *
 * - Plain accesses reach memory at once. The values they overwrite are forgotten.
 */
#include "sim.h"
#include "oracle.h"

/* Number of places, a power of two. Up to half of them are in use. */
#define PLACES		(1U << 17)
#define STORES		4
/* Number of recently read pointers that a CPU remembers. */
#define POINTERS	4

/* A value of a place in memory: the present one, or one that a later store replaced */
struct store {
	u64 value;
	struct sim_clock clock;	/* knowledge of a CPU that passes a barrier after reading it */
	unsigned int cpu;	/* storing CPU */
	u32 nr;			/* its number among the stores of @cpu, 0 if all CPUs know it */
	u64 at;			/* time of the store */
};

/* The record of a place in memory */
struct place {
	const volatile void *address;
	u32 size;			/* size of the values */
	u32 seed;			/* seed that uses this entry */
	u32 count;			/* number of stores, of which the last STORES are kept */
	u32 seen[SIM_CPUS];		/* last store read or made by each CPU */
	struct store stores[STORES];	/* by number, modulo STORES */
};

/* A pointer that a CPU read, which orders reads through it */
struct pointer {
	u64 to;			/* its value */
	u32 size;		/* size of the object there */
	struct sim_clock clock;	/* knowledge about the object, from reading the pointer */
};

/* Place of a CPU in the order of stores */
struct order {
	struct sim_clock knows;			/* known stores */
	struct sim_clock read;			/* knowledge after smp_rmb() or a full barrier */
	/* @read, and the stores themselves that it read, to pass on to other CPUs */
	struct sim_clock chain;
	/* Clock that its plain stores carry, from its last barrier */
	struct sim_clock told;
	struct sim_clock unlocked;		/* knowledge at its last unlock */
	struct pointer pointers[POINTERS];	/* last pointers that it read */
	unsigned int nr_pointers;		/* number of pointers that it read */
};

bool sim_weak;

static struct place places[PLACES];
static unsigned int nr_places;
static u32 this_seed;
static struct order orders[SIM_CPUS];
/* Knowledge of every CPU that passes a full barrier. */
static struct sim_clock full;

static void join(struct sim_clock *to, const struct sim_clock *from)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		to->nr[cpu] = max(to->nr[cpu], from->nr[cpu]);
}

static struct order *this_order(void)
{
	return &orders[sim.cpu];
}

void sim_weak_begin(void)
{
	this_seed++;
	nr_places = 0;
	memset(orders, 0, sizeof(orders));
	memset(&full, 0, sizeof(full));
}

/* Places. */

/* Returns the place of @address, or a free one for it. */
static struct place *place_of(const volatile void *address)
{
	u32 i = ((unsigned long)address * 0x9e3779b97f4a7c15UL) >> 40;

	for (;; i++) {
		struct place *place = &places[i % PLACES];

		if (place->seed != this_seed || place->address == address)
			return place;
	}
}

static u64 value_at(const volatile void *address, u32 size)
{
	u64 value = 0;

	memcpy(&value, (const void *)address, size);
	return value;
}

static struct store *newest(struct place *place)
{
	return &place->stores[(place->count - 1) % STORES];
}

static bool is_known(const struct place *place)
{
	return place->seed == this_seed;
}

/* Forget all values but the present one. */
static void forget(struct place *place)
{
	place->count = 1;
	memset(place->seen, 0, sizeof(place->seen));
	place->stores[0] = (struct store){
		.value = value_at(place->address, place->size),
	};
}

/*
 * Returns whether the value in memory differs from the last recorded store: a store changed it
 * without a record.
 */
static bool is_stale(struct place *place)
{
	return value_at(place->address, place->size) != newest(place)->value;
}

/* Returns the record of a place in memory, prepared for a store. */
static struct place *prepare(volatile void *address, u32 size)
{
	struct place *place = place_of(address);

	if (is_known(place) && place->size == size) {
		if (is_stale(place))
			forget(place);
		return place;
	}
	if (!is_known(place)) {
		if (nr_places++ == PLACES / 2)
			sim_fail("too many places in memory");
	}
	place->address = address;
	place->size = size;
	place->seed = this_seed;
	forget(place);
	return place;
}

static void note_store(struct place *place, u64 value,
		       const struct sim_clock *clock)
{
	struct order *order = this_order();

	place->stores[place->count % STORES] = (struct store){
		.value = value,
		.clock = *clock,
		.cpu = sim.cpu,
		.nr = ++order->knows.nr[sim.cpu],
		.at = sim.now,
	};
	place->seen[sim.cpu] = place->count++;
}

static void note_read(const struct store *store, enum sim_order how)
{
	struct order *order = this_order();

	join(&order->read, &store->clock);
	join(&order->chain, &store->clock);
	order->chain.nr[store->cpu] = max(order->chain.nr[store->cpu], store->nr);
	if (how == SIM_ACQUIRE)
		join(&order->knows, &store->clock);
}

/* Barriers. */

void sim_weak_mb(void)
{
	struct order *order = this_order();

	join(&order->knows, &order->read);
	join(&order->knows, &full);
	join(&full, &order->knows);
	join(&full, &order->chain);
	join(&order->told, &order->knows);
	join(&order->told, &order->chain);
}

void sim_weak_rmb(void)
{
	join(&this_order()->knows, &this_order()->read);
}

/* Order the stores of this CPU so far before its later stores. */
void sim_weak_wmb(void)
{
	struct order *order = this_order();

	order->told.nr[sim.cpu] = order->knows.nr[sim.cpu];
}

/* Returns the knowledge that a release passes on. */
static struct sim_clock released(void)
{
	struct sim_clock clock = this_order()->knows;

	join(&clock, &this_order()->chain);
	return clock;
}

/* Note a store of @size bytes at @value to @address, before it takes place. */
void sim_weak_store(volatile void *address, const void *value, u32 size,
		    enum sim_order how)
{
	struct sim_clock clock = this_order()->told;
	struct place *place = prepare(address, size);

	if (how == SIM_RELEASE)
		clock = released();
	note_store(place, value_at(value, size), &clock);
}

/* Note an atomic operation, which reads memory, before it takes place. */
void sim_weak_atomic(volatile void *address, u32 size, enum sim_order how)
{
	struct place *place = prepare(address, size);

	if (how == SIM_FULL)
		sim_weak_mb();
	note_read(newest(place), how);
	place->seen[sim.cpu] = place->count - 1;
}

/*
 * Note a read-modify-write after it changed the value. It also carries the clock of the
 * store that it read.
 */
void sim_weak_changed(volatile void *address, u32 size, enum sim_order how)
{
	struct sim_clock clock = this_order()->told;
	struct place *place = place_of(address);

	if (how == SIM_RELEASE || how == SIM_FULL)
		clock = released();
	join(&clock, &newest(place)->clock);
	note_store(place, value_at(address, size), &clock);
	if (how == SIM_FULL)
		sim_weak_mb();
}

static void note_pointer(const struct store *store, u32 size)
{
	struct order *order = this_order();

	order->pointers[order->nr_pointers++ % POINTERS] = (struct pointer){
		.to = store->value,
		.size = size,
		.clock = store->clock,
	};
}

/* Returns whether this CPU knows of a store to @address. */
static bool knows(const volatile void *address, const struct store *store)
{
	const struct order *order = this_order();
	const struct pointer *p;

	if (order->knows.nr[store->cpu] >= store->nr)
		return true;
	for (p = order->pointers; p < order->pointers + POINTERS; p++)
		if ((unsigned long)address - p->to < p->size &&
		    p->clock.nr[store->cpu] >= store->nr)
			return true;
	return false;
}

/*
 * Returns the address of the value that a read of @address finds. @pointee: size of the
 * target if the value is a pointer, otherwise 0.
 */
const volatile void *sim_weak_load(const volatile void *address, u32 size,
				   u32 pointee, enum sim_order how)
{
	struct place *place = place_of(address);
	struct store *store;
	u32 first, i;

	if (!is_known(place) || place->size != size)
		return address;
	if (is_stale(place))
		forget(place);
	first = place->count > STORES ? place->count - STORES : 0;
	first = max(first, place->seen[sim.cpu]);
	for (i = place->count - 1; i > first; i--) {
		store = &place->stores[i % STORES];
		if (knows(address, store) || sim_chance(2))
			break;
	}
	place->seen[sim.cpu] = i;
	store = &place->stores[i % STORES];
	note_read(store, how);
	if (pointee)
		note_pointer(store, pointee);
	return i == place->count - 1 ? address : (const void *)&store->value;
}

/*
 * Returns the time until which memory had the value that this CPU last read at
 * @address. Returns SIM_NEVER if memory still has it.
 */
static u64 until_when(const volatile void *address)
{
	struct place *place = place_of(address);
	u32 next;

	if (!is_known(place))
		return SIM_NEVER;
	next = place->seen[sim.cpu] + 1;
	if (next >= place->count)
		return SIM_NEVER;
	return place->count - next > STORES ? 0 : place->stores[next % STORES].at;
}

/*
 * Returns the time since which the value at @address is not 0. Returns 0 if the store of that time
 * is forgotten.
 */
static u64 since(const volatile void *address)
{
	struct place *place = place_of(address);
	u32 i;

	if (!is_known(place) || is_stale(place))
		return 0;
	for (i = place->count; i && i + STORES > place->count; i--)
		if (!place->stores[(i - 1) % STORES].value)
			return i < place->count ? place->stores[i % STORES].at :
			       SIM_NEVER;
	return 0;
}

/*
 * Returns whether a call that read @link, and then @value, counts as made before an earlier call,
 * because it read an old value. @value is written before @link is set, and may change later.
 * Returns false if the call found a @value from before @link was set, because memory never had
 * these two values together.
 */
bool sim_weak_old(const volatile void *link, const volatile void *value)
{
	u64 until;

	if (until_when(link) != SIM_NEVER)
		return true;
	until = until_when(value);
	return until != SIM_NEVER && until >= since(link);
}

/* Locks. */

void sim_weak_lock(const struct sim_clock *clock)
{
	struct order *order = this_order();

	if (!sim_weak)
		return;
	/*
	 * "po-unlock-lock-po" of the LKMM: a lock orders the accesses of its owner behind its own
	 * last unlock
	 */
	join(&order->knows, &order->unlocked);
	join(&order->told, &order->unlocked);
	join(&order->knows, clock);
	join(&order->told, clock);
}

void sim_weak_unlock(struct sim_clock *clock)
{
	struct order *order = this_order();

	if (!sim_weak)
		return;
	/* Count the store that frees the lock. */
	order->knows.nr[sim.cpu]++;
	*clock = released();
	order->unlocked = order->knows;
	join(&order->unlocked, &order->read);
}

/*
 * Returns whether this CPU knows the store by which @cpu freed a lock. Only that store counts: the
 * clock of the lock may also have stores that @cpu passed on without knowing them itself.
 */
bool sim_weak_knows(const struct sim_clock *clock, unsigned int cpu)
{
	return clock->nr[cpu] <= this_order()->knows.nr[cpu];
}

/* Let this CPU know all stores. */
void sim_weak_all(void)
{
	unsigned int cpu;

	if (!sim_weak)
		return;
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		this_order()->knows.nr[cpu] = orders[cpu].knows.nr[cpu];
	sim_weak_mb();
}

/* Let all CPUs know all that this CPU knows. */
void sim_weak_tell(void)
{
	struct sim_clock clock = released();
	unsigned int cpu;

	if (!sim_weak)
		return;
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		join(&orders[cpu].knows, &clock);
		join(&orders[cpu].told, &clock);
	}
}
