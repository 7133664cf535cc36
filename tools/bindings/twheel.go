// SPDX-License-Identifier: GPL-2.0 OR MIT

// Package twheel has timers by the million through one file descriptor.
//
// This file and the standard library are all that it takes: it calls /dev/twheel
// itself, and does about words what libtwheel does. All times are nanoseconds, a
// deadline is one of CLOCK_MONOTONIC, which Now() returns. An error is the
// syscall.Errno of the call.
//
// A session may be used by many goroutines, and a batch by one at a time. Read waits
// in the runtime's poller, not in a thread.
package twheel

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	IDAny         = ^uint64(0)
	WordNone      = uint64(0)
	WordStop      = ^uint64(0)
	SetupPrivate  = uint32(1)
	ModePeriodic  = uint32(0)
	ModeTickless  = uint32(1)
	StartAbs      = uint32(1)
	StartReplace  = uint32(2)
	StopWithdraw  = uint32(1)
	StatePending  = uint32(1)
	StateExpired  = uint32(2)
	EventPeriodic = uint32(1)
)

const (
	nsMax     = uint64(1<<63 - 1)
	iocInfo   = 0xc040dc00
	iocSetup  = 0xc028dc01
	iocStart  = 0xc028dc02
	iocStop   = 0xc010dc03
	iocGet    = 0xc030dc04
	iocSubmit = 0xc018dc05
	iocList   = 0xc020dc06
	iocDrain  = 0xc020dc07
	iocStats  = 0xc070dc08
	opStart   = uint32(1)
	opStop    = uint32(2)
	batchMax  = 65536
)

// Not a constant: so arrays of that length are on the heap, where they do not move.
var entriesMax = 64

func address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }

// Setup is struct twheel_setup. EventSize is ignored.
type Setup struct {
	Flags, Scheme, Mode, Slots uint32
	TickNs, MaxTimers          uint64
	EventSize, SharedIds       uint32
}

// Info is struct twheel_info.
type Info struct {
	AbiVersion, Scheme                         uint32
	Features, TickNs, MaxTimers, MaxIntervalNs uint64
	Mode, Slots, MaxBatch, EventSize           uint32
	SharedIds, reserved                        uint32
}

// Event is struct twheel_event.
type Event struct {
	ID, UserData, DeadlineNs, ExpiredNs, Overruns uint64
	Flags, reserved                               uint32
}

// Entry is struct twheel_entry.
type Entry struct {
	ID, UserData, DeadlineNs, RemainingNs, PeriodNs uint64
	State, reserved                                 uint32
}

// Stats is struct twheel_stats.
type Stats struct {
	Started, Restarted, Stopped, Expired, Pending, Rearmed, Delivered uint64
	Replaced, Withdrawn, Unread, Overruns, Wakeups, Carried           uint64
	StoppedByStore                                                    uint64
}

// Op is struct twheel_op: an operation of a batch, and its result.
type Op struct {
	opcode, flags                     uint32
	ID, expiresNs, periodNs, userData uint64
	Result                            int32
	reserved                          uint32
}

type start struct {
	id, expiresNs, periodNs, userData uint64
	flags, reserved                   uint32
}

// Err is the error of an operation, or nil.
func (op *Op) Err() error {
	if op.Result < 0 {
		return syscall.Errno(-op.Result)
	}
	return nil
}

// Twheel is a session.
type Twheel struct {
	file  *os.File
	conn  syscall.RawConn
	mem   []byte
	words []uint64
}

// Now is the clock that deadlines are on.
func Now() uint64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return uint64(ts.Nano())
}

// Open opens a session.
func Open(setup Setup) (*Twheel, error) {
	fd, err := syscall.Open("/dev/twheel", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	t := &Twheel{file: os.NewFile(uintptr(fd), "/dev/twheel")}
	if err = t.setup(&setup); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Twheel) setup(setup *Setup) (err error) {
	if t.conn, err = t.file.SyscallConn(); err != nil {
		return err
	}
	setup.EventSize = uint32(unsafe.Sizeof(Event{}))
	if _, err = t.ioctl(iocSetup, unsafe.Pointer(setup)); err != nil || setup.SharedIds == 0 {
		return err
	}
	control := t.conn.Control(func(fd uintptr) {
		t.mem, err = syscall.Mmap(int(fd), 0, int(setup.SharedIds)*8,
			syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	})
	if control != nil || err != nil {
		return first(control, err)
	}
	t.words = unsafe.Slice((*uint64)(unsafe.Pointer(&t.mem[0])), setup.SharedIds)
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close stops all timers. No other call may be under way or come later.
func (t *Twheel) Close() error {
	var err error
	if t.mem != nil {
		err = syscall.Munmap(t.mem)
		t.mem, t.words = nil, nil
	}
	return first(t.file.Close(), err)
}

func (t *Twheel) ioctl(command uintptr, argument unsafe.Pointer) (ret int, err error) {
	control := t.conn.Control(func(fd uintptr) {
		r, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, command, uintptr(argument))
		ret = int(r)
		if errno != 0 {
			ret, err = -1, errno
		}
	})
	runtime.KeepAlive(argument)
	return ret, first(control, err)
}

// after stops at the latest deadline.
func after(now, delay uint64) uint64 {
	if delay < nsMax-now {
		return now + delay
	}
	return nsMax
}

// putWord stores a deadline before its start; takeBack restores the word after one
// that failed.
func (t *Twheel) putWord(id, deadline uint64, flags *uint32) uint64 {
	old := atomic.SwapUint64(&t.words[id], deadline)
	if old == WordStop {
		*flags |= StartReplace
	}
	return old
}

func (t *Twheel) takeBack(id, deadline, old uint64) {
	atomic.CompareAndSwapUint64(&t.words[id], deadline, old)
}

func (t *Twheel) hasWord(id uint64) bool { return id < uint64(len(t.words)) }

// StartFlags starts a timer with StartAbs, StartReplace, a period, or IDAny. It
// returns the id, and whether the timer was pending and is restarted.
func (t *Twheel) StartFlags(id, expiresNs, periodNs, userData uint64, flags uint32) (uint64, bool, error) {
	s := start{id: id, expiresNs: expiresNs, periodNs: periodNs, userData: userData, flags: flags}
	var old uint64
	word := t.hasWord(id) && expiresNs <= nsMax
	if word {
		if flags&StartAbs == 0 {
			s.expiresNs = after(Now(), expiresNs)
			s.flags |= StartAbs
		}
		old = t.putWord(id, s.expiresNs, &s.flags)
	}
	ret, err := t.ioctl(iocStart, unsafe.Pointer(&s))
	if err != nil && word {
		t.takeBack(id, s.expiresNs, old)
	}
	return s.id, ret == 1, err
}

// Start starts a timer, or restarts it: true if it was pending.
func (t *Twheel) Start(id uint64, delay time.Duration, userData uint64) (bool, error) {
	_, pending, err := t.StartFlags(id, uint64(delay), 0, userData, 0)
	return pending, err
}

// StartAt is Start with a deadline.
func (t *Twheel) StartAt(id, deadlineNs, userData uint64) (bool, error) {
	_, pending, err := t.StartFlags(id, deadlineNs, 0, userData, StartAbs)
	return pending, err
}

// StartAny starts a timer, and returns the id that the kernel chose.
func (t *Twheel) StartAny(delay time.Duration, userData uint64) (uint64, error) {
	id, _, err := t.StartFlags(IDAny, uint64(delay), 0, userData, 0)
	return id, err
}

// Stop stops a pending timer.
func (t *Twheel) Stop(id uint64) error {
	_, err := t.stop(id, 0)
	return err
}

// Withdraw stops a timer, or withdraws its unread event: true then.
func (t *Twheel) Withdraw(id uint64) (bool, error) {
	ret, err := t.stop(id, StopWithdraw)
	return ret == 1, err
}

func (t *Twheel) stop(id uint64, flags uint32) (int, error) {
	s := struct {
		id              uint64
		flags, reserved uint32
	}{id: id, flags: flags}
	return t.ioctl(iocStop, unsafe.Pointer(&s))
}

// Refresh pushes a timer back by a store. It panics if the id has no word.
func (t *Twheel) Refresh(id, deadlineNs uint64) { atomic.StoreUint64(&t.words[id], deadlineNs) }

// StopByStore stops a timer by a store. It panics if the id has no word.
func (t *Twheel) StopByStore(id uint64) { t.Refresh(id, WordStop) }

// Word is what was stored last. It panics if the id has no word.
func (t *Twheel) Word(id uint64) uint64 { return atomic.LoadUint64(&t.words[id]) }

// outOfDate takes the second look: was something stored after the kernel had looked?
func (t *Twheel) outOfDate(event *Event) bool {
	if !t.hasWord(event.ID) {
		return false
	}
	word := t.Word(event.ID)
	if word == WordStop {
		return true
	}
	if word <= event.ExpiredNs || event.Flags&EventPeriodic != 0 {
		return false
	}
	s := start{id: event.ID, expiresNs: after(0, word), userData: event.UserData, flags: StartAbs}
	_, err := t.ioctl(iocStart, unsafe.Pointer(&s))
	return err == nil || errors.Is(err, syscall.EALREADY)
}

// Read waits for events, and takes up to len(events) of them: at least one.
// SetReadDeadline ends the wait.
func (t *Twheel) Read(events []Event) (int, error) {
	size := int(unsafe.Sizeof(Event{}))
	if len(events) == 0 {
		return 0, syscall.EINVAL
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&events[0])), len(events)*size)
	for {
		n, err := t.file.Read(bytes)
		if err != nil {
			return 0, err
		}
		kept := 0
		for i := range events[:n/size] {
			if !t.outOfDate(&events[i]) {
				events[kept] = events[i]
				kept++
			}
		}
		if kept != 0 {
			return kept, nil
		}
	}
}

// SetReadDeadline ends a Read with os.ErrDeadlineExceeded. The zero time is no end.
func (t *Twheel) SetReadDeadline(when time.Time) error { return t.file.SetReadDeadline(when) }

// Get looks at a timer. ENOENT: it is neither pending nor its event unread.
func (t *Twheel) Get(id uint64) (Entry, error) {
	entry := Entry{ID: id}
	_, err := t.ioctl(iocGet, unsafe.Pointer(&entry))
	return entry, err
}

// List returns the timers.
func (t *Twheel) List() ([]Entry, error) { return t.walk(iocList) }

// Drain stops all pending timers, and returns them.
func (t *Twheel) Drain() ([]Entry, error) { return t.walk(iocDrain) }

func (t *Twheel) walk(command uintptr) (all []Entry, err error) {
	some := make([]Entry, entriesMax)
	l := struct {
		entries, cursor                   uint64
		count, entrySize, flags, reserved uint32
	}{entries: address(unsafe.Pointer(&some[0])), count: uint32(len(some)),
		entrySize: uint32(unsafe.Sizeof(Entry{}))}
	defer runtime.KeepAlive(some)
	for {
		n, err := t.ioctl(command, unsafe.Pointer(&l))
		if err != nil || n == 0 {
			return all, err
		}
		all = append(all, some[:n]...)
	}
}

// Info says what the module can do, and which wheel and limits the session has.
func (t *Twheel) Info() (Info, error) {
	var info Info
	_, err := t.ioctl(iocInfo, unsafe.Pointer(&info))
	return info, err
}

// Stats are the counters of the session.
func (t *Twheel) Stats() (Stats, error) {
	var stats Stats
	_, err := t.ioctl(iocStats, unsafe.Pointer(&stats))
	return stats, err
}

// Batch has operations that are submitted when there are enough of them, and by Flush.
// What adds one returns the operations with their results if it has filled the batch,
// and else nil. They hold until the next one is added.
type Batch struct {
	t    *Twheel
	size int
	ops  []Op
	old  []uint64
}

// Batch makes an empty batch.
func (t *Twheel) Batch(size int) (*Batch, error) {
	if size < 1 || size > batchMax {
		return nil, syscall.EINVAL
	}
	return &Batch{t: t, size: size, ops: make([]Op, 0, size), old: make([]uint64, size)}, nil
}

// Start adds what Twheel.Start does. Delays begin with the submission.
func (b *Batch) Start(id uint64, delay time.Duration, userData uint64) ([]Op, error) {
	return b.StartFlags(id, uint64(delay), 0, userData, 0)
}

// StartFlags adds what Twheel.StartFlags does.
func (b *Batch) StartFlags(id, expiresNs, periodNs, userData uint64, flags uint32) ([]Op, error) {
	return b.add(Op{opcode: opStart, flags: flags, ID: id, expiresNs: expiresNs,
		periodNs: periodNs, userData: userData})
}

// Stop adds what Twheel.Stop does.
func (b *Batch) Stop(id uint64) ([]Op, error) { return b.add(Op{opcode: opStop, ID: id}) }

// Withdraw adds what Twheel.Withdraw does.
func (b *Batch) Withdraw(id uint64) ([]Op, error) {
	return b.add(Op{opcode: opStop, flags: StopWithdraw, ID: id})
}

func (b *Batch) add(op Op) ([]Op, error) {
	b.ops = append(b.ops, op)
	if len(b.ops) < b.size {
		return nil, nil
	}
	return b.Flush()
}

func (b *Batch) stores(op *Op) bool {
	return op.opcode == opStart && b.t.hasWord(op.ID) && op.expiresNs <= nsMax
}

// Flush submits what waits. With an error, operations that were not carried out have
// it as their result.
func (b *Batch) Flush() ([]Op, error) {
	ops := b.ops
	b.ops = ops[:0]
	if len(ops) == 0 {
		return nil, nil
	}
	now := Now()
	for i := range ops {
		op := &ops[i]
		if !b.stores(op) {
			continue
		}
		if op.flags&StartAbs == 0 {
			op.expiresNs = after(now, op.expiresNs)
			op.flags |= StartAbs
		}
		b.old[i] = b.t.putWord(op.ID, op.expiresNs, &op.flags)
	}
	err := b.submit(ops)
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].Result < 0 && b.stores(&ops[i]) {
			b.t.takeBack(ops[i].ID, ops[i].expiresNs, b.old[i])
		}
	}
	return ops, err
}

func (b *Batch) submit(ops []Op) error {
	defer runtime.KeepAlive(ops)
	for len(ops) > 0 {
		s := struct {
			ops                          uint64
			count, opSize, failed, flags uint32
		}{ops: address(unsafe.Pointer(&ops[0])), count: uint32(len(ops)),
			opSize: uint32(unsafe.Sizeof(Op{}))}
		done, err := b.t.ioctl(iocSubmit, unsafe.Pointer(&s))
		if err != nil {
			var errno syscall.Errno
			errors.As(err, &errno)
			for i := range ops {
				ops[i].Result = -int32(errno)
			}
			return err
		}
		ops = ops[done:]
	}
	return nil
}
