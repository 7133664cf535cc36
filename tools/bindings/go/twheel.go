// SPDX-License-Identifier: GPL-2.0 OR MIT

// Package twheel provides timers by the million through one file descriptor: libtwheel for Go.
//
// The methods are the functions of <twheel.h>. Goroutines may share a session, but not a
// batch. A deadline is in nanoseconds of CLOCK_MONOTONIC, which Now() returns, or of the
// clock that the setup chose. A call that fails returns an *Error, which wraps a
// syscall.Errno. After Close, calls return os.ErrClosed.
package twheel

/*
#cgo CFLAGS: -std=gnu11 -pthread
#cgo LDFLAGS: -pthread
#include <twheel.h>
*/
import "C"

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const device = "/dev/twheel"

// Error is an error of a call of the library.
type Error struct {
	Call  string
	Errno syscall.Errno
}

func (e *Error) Unwrap() error { return e.Errno }

func (e *Error) Error() string {
	switch {
	case e.Call == device:
		return device + ": " + e.Errno.Error() + ". Check the setup, TWHEEL_BACKEND, the module and the group twheel"
	case e.Errno == syscall.ENOENT:
		return e.Call + ": no such timer is pending"
	}
	return e.Call + ": " + e.Errno.Error()
}

func check(call string, ret C.int) (int, error) {
	if ret < 0 {
		return 0, &Error{call, syscall.Errno(-ret)}
	}
	return int(ret), nil
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Now returns the time on CLOCK_MONOTONIC, the clock of deadlines. It reads the clock of Go's
// runtime, which needs no system call. Go promises to keep the name nanotime.
func Now() uint64 { return uint64(nanotime()) }

// Twheel is a session.
type Twheel struct {
	// A duplicate of the session's descriptor, for the runtime's poller.
	file *os.File
	// Receives a value when the session becomes readable, and is closed after file is closed.
	readable chan struct{}
	// A lock that Read holds, so that one goroutine waits for events. It is a channel, so that
	// ctx ends a wait for it.
	reading chan struct{}

	// Held for reading by each use of the fields below. Held for writing by Close.
	mu    sync.RWMutex
	t     *C.struct_twheel
	words []uint64
}

// Open opens a session. EventSize is ignored.
func Open(setup Setup) (*Twheel, error) {
	t := &Twheel{readable: make(chan struct{}, 1), reading: make(chan struct{}, 1)}
	if _, err := check(device, C.twheel_open_sized(&t.t, (*C.struct_twheel_setup)(unsafe.Pointer(&setup)),
		C.size_t(unsafe.Sizeof(setup)), C.size_t(unsafe.Sizeof(Event{})))); err != nil {
		return nil, err
	}
	if err := t.poll(); err != nil {
		C.twheel_close(t.t)
		return nil, err
	}
	t.words = unsafe.Slice((*uint64)(unsafe.Pointer(t.t.words)), t.t.shared_ids)
	// Close the session when nothing refers to it any more, as os.File does.
	runtime.SetFinalizer(t, (*Twheel).Close)
	return t, nil
}

func (t *Twheel) poll() error {
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(C.twheel_fd(t.t)), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return &Error{device, errno}
	}
	t.file = os.NewFile(fd, device)
	conn, err := t.file.SyscallConn()
	if err != nil {
		return err
	}
	// The goroutine gets only the channel: if it referred to t, t would never be collected.
	go func(readable chan<- struct{}) {
		conn.Read(func(uintptr) bool {
			select {
			case readable <- struct{}{}:
			default:
			}
			return false
		})
		close(readable)
	}(t.readable)
	return nil
}

// Close stops all timers, and ends a Read that waits.
func (t *Twheel) Close() error {
	if err := t.file.Close(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	C.twheel_close(t.t)
	t.t, t.words = nil, nil
	return nil
}

// call calls a function of the library, if the session is open.
func (t *Twheel) call(name string, function func() C.int) (int, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.t == nil {
		return 0, os.ErrClosed
	}
	return check(name, function())
}

func (t *Twheel) command(name string, command uintptr, argument unsafe.Pointer) (int, error) {
	return t.call(name, func() C.int { return C.twheel_command(t.t, C.ulong(command), argument) })
}

// StartFlags starts a timer with StartAbs, a period, or IDAny. It returns the id, and what
// Start returns.
func (t *Twheel) StartFlags(id, expiresNs, periodNs, userData uint64, flags uint32) (uint64, int, error) {
	chosen := C.__u64(id)
	ret, err := t.call("twheel_start_flags", func() C.int {
		return C.twheel_start_flags(t.t, &chosen, C.__u64(expiresNs), C.__u64(periodNs), C.__u64(userData),
			C.__u32(flags))
	})
	return uint64(chosen), ret, err
}

// ns returns 0 for a negative delay, as time.Sleep returns at once.
func ns(delay time.Duration) uint64 {
	if delay < 0 {
		return 0
	}
	return uint64(delay)
}

// Start starts or restarts a timer. It returns 1 if the timer was pending, 2 if its unread
// event is withdrawn, and 0 otherwise.
func (t *Twheel) Start(id uint64, delay time.Duration, userData uint64) (int, error) {
	return t.call("twheel_start", func() C.int {
		return C.twheel_start(t.t, C.__u64(id), C.__u64(ns(delay)), C.__u64(userData))
	})
}

// Push moves a timer to another deadline, by a store unless the deadline is earlier than the
// timer's word.
func (t *Twheel) Push(id, deadlineNs, userData uint64) error {
	_, err := t.call("twheel_push", func() C.int {
		return C.twheel_push(t.t, C.__u64(id), C.__u64(deadlineNs), C.__u64(userData))
	})
	return err
}

// Stop stops a timer. It returns 0 if the timer was pending, 1 if its unread event is
// withdrawn.
func (t *Twheel) Stop(id uint64) (int, error) {
	return t.call("twheel_stop", func() C.int { return C.twheel_stop(t.t, C.__u64(id)) })
}

// Refresh moves a timer to a later deadline by a store. It panics if the id has no word, and
// after Close.
func (t *Twheel) Refresh(id, deadlineNs uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	atomic.StoreUint64(&t.words[id], deadlineNs)
}

// StopByStore stops a timer by a store: when the timer is due, there is no event. It panics
// where Refresh does.
func (t *Twheel) StopByStore(id uint64) { t.Refresh(id, WordStop) }

// Read waits for events, and reads up to len(events). It waits in the runtime's poller, until
// ctx or the session ends.
func (t *Twheel) Read(ctx context.Context, events []Event) (int, error) {
	if len(events) == 0 {
		return 0, &Error{"twheel_read", syscall.EINVAL}
	}
	select {
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-t.reading }()
	for {
		n, err := t.call("twheel_read", func() C.int {
			return C.twheel_read(t.t, (*C.struct_twheel_event)(unsafe.Pointer(&events[0])), C.uint(len(events)))
		})
		if n != 0 || err != nil {
			return n, err
		}
		select {
		case _, open := <-t.readable:
			if !open {
				return 0, os.ErrClosed
			}
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Events returns an iterator over events, for "range" of Go 1.23. It ends when ctx or the session
// does. It reads one event at a time, because an event that was read can no longer be withdrawn.
func (t *Twheel) Events(ctx context.Context) func(yield func(Event) bool) {
	return func(yield func(Event) bool) {
		var event [1]Event
		for {
			if _, err := t.Read(ctx, event[:]); err != nil || !yield(event[0]) {
				return
			}
		}
	}
}

// Get returns a timer, or ENOENT if it is not pending and has no unread event.
func (t *Twheel) Get(id uint64) (Entry, error) {
	entry := Entry{ID: id}
	_, err := t.command("twheel_get", iocGet, unsafe.Pointer(&entry))
	return entry, err
}

// List returns all timers that are pending, or whose events are unread.
func (t *Twheel) List() (all []Entry, err error) {
	// The list has the address of the entries as a number, which Go would not update if the page
	// moved. But the page escapes to C, so it is on the heap and does not move.
	page := new(page)
	page.list = list{entries: uint64(uintptr(unsafe.Pointer(&page.entries[0]))),
		count: uint32(len(page.entries)), entrySize: uint32(unsafe.Sizeof(Entry{}))}
	for {
		n, err := t.command("twheel_list", iocList, unsafe.Pointer(page))
		if err != nil || n == 0 {
			return all, err
		}
		all = append(all, page.entries[:n]...)
	}
}

// Info returns the features, the wheel and the limits of the session.
func (t *Twheel) Info() (info Info, err error) {
	_, err = t.command("twheel_info", iocInfo, unsafe.Pointer(&info))
	return info, err
}

// Stats returns the counters of the session.
func (t *Twheel) Stats() (stats Stats, err error) {
	_, err = t.command("twheel_stats", iocStats, unsafe.Pointer(&stats))
	return stats, err
}

// Op is an operation of a batch, and its result: 0 or more, or a negative errno.
type Op struct {
	Opcode uint32
	ID     uint64
	Result int32
}

// Batch contains operations that are submitted together, when it is full or by Flush. A call
// that submits them returns all operations with their results. Other calls return no
// operations. The slice is valid until the next operation is added.
type Batch struct {
	t   *Twheel
	b   *C.struct_twheel_batch
	ops []Op
}

// Batch returns an empty batch, which submits itself when it has size operations.
func (t *Twheel) Batch(size uint32) (*Batch, error) {
	b := &Batch{t: t}
	_, err := t.call("twheel_batch_new", func() C.int { return C.twheel_batch_new(t.t, C.uint(size), &b.b) })
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(b, func(b *Batch) { C.twheel_batch_free(b.b) })
	return b, nil
}

// Start adds a start, see Twheel.Start. The delay begins when the batch is submitted.
func (b *Batch) Start(id uint64, delay time.Duration, userData uint64) ([]Op, error) {
	return b.StartFlags(id, ns(delay), 0, userData, 0)
}

// StartFlags adds a start with flags, see Twheel.StartFlags.
func (b *Batch) StartFlags(id, expiresNs, periodNs, userData uint64, flags uint32) ([]Op, error) {
	return b.add("twheel_batch_start_flags", func() C.int {
		return C.twheel_batch_start_flags(b.b, C.__u64(id), C.__u64(expiresNs), C.__u64(periodNs),
			C.__u64(userData), C.__u32(flags))
	})
}

// Stop adds a stop, see Twheel.Stop.
func (b *Batch) Stop(id uint64) ([]Op, error) {
	return b.add("twheel_batch_stop", func() C.int { return C.twheel_batch_stop(b.b, C.__u64(id)) })
}

// Flush submits the operations that were added.
func (b *Batch) Flush() ([]Op, error) {
	return b.add("twheel_batch_flush", func() C.int { return C.twheel_batch_flush(b.b) })
}

func (b *Batch) add(name string, function func() C.int) ([]Op, error) {
	n, err := b.t.call(name, function)
	b.ops = b.ops[:0]
	for i := 0; i < n; i++ {
		op := C.twheel_batch_op(b.b, C.uint(i))
		b.ops = append(b.ops, Op{uint32(op.opcode), uint64(op.id), int32(op.result)})
	}
	return b.ops, err
}

// Err returns the error of an operation, or nil.
func (op *Op) Err() error {
	_, err := check("batch", C.int(op.Result))
	return err
}
