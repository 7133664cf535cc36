// SPDX-License-Identifier: GPL-2.0 OR MIT

package twheel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const hour = time.Hour

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func wants(err, wanted error) {
	if !errors.Is(err, wanted) {
		panic(fmt.Sprintf("%v, and not %v", err, wanted))
	}
}

func failure[T any](_ T, err error) error { return err }

func is[T comparable](got, wanted T) {
	if got != wanted {
		panic(fmt.Sprintf("%v, and not %v", got, wanted))
	}
}

func open(t *testing.T, words uint32) *Twheel {
	s := must(Open(Setup{SharedIds: words}))
	t.Cleanup(func() { s.Close() })
	return s
}

func unread(s *Twheel, count uint64) {
	for must(s.Stats()).Unread != count {
		time.Sleep(time.Millisecond)
	}
}

func panics(function func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	function()
	return
}

// Returns whether the library opens sessions in the process. It does so if TWHEEL_BACKEND is "process". Without
// TWHEEL_BACKEND it does so if this user cannot open the device.
func inProcess() bool {
	if asked := os.Getenv("TWHEEL_BACKEND"); asked != "" {
		return asked == "process"
	}
	file, err := os.OpenFile(device, os.O_RDWR, 0)
	file.Close()
	return err != nil
}

func TestSetup(t *testing.T) {
	s := must(Open(Setup{Flags: SetupPrivate, Clock: ClockBoottime}))
	info := must(s.Info())
	is(info.AbiVersion, 1)
	is(info.Clock, ClockBoottime)
	is(info.Features&FeatureProcess != 0, inProcess())
	must(0, s.Close())
	err := failure(Open(Setup{TickNs: 1}))
	wants(err, syscall.EINVAL)
	is(strings.Contains(err.Error(), "/dev/twheel"), true)
}

func TestTimers(t *testing.T) {
	s := open(t, 0)
	is(must(s.Start(3, hour, 33)), 0)
	id, result, err := s.StartFlags(3, Now()+uint64(hour), 0, 34, StartAbs)
	is(must(id, err), 3)
	is(result, 1)
	entry := must(s.Get(3))
	is(entry.UserData, 34)
	is(entry.State, StatePending)
	is(must(s.Stop(3)), 0)
	err = failure(s.Stop(3))
	wants(err, syscall.ENOENT)
	is(err.Error(), "twheel_stop: no such timer is pending")
	wants(failure(s.Get(3)), syscall.ENOENT)
	is(must(s.Start(3, 1<<63-1, 0)), 0)
	is(must(s.Start(3, -1, 0)), 1)
	unread(s, 1)
	is(must(s.Start(3, hour, 0)), 2)
	id, _, err = s.StartFlags(IDAny, 0, uint64(time.Millisecond), 44, 0)
	must(id, err)
	var events [1]Event
	is(must(s.Read(context.Background(), events[:])), 1)
	is(events[0].ID, id)
	is(events[0].UserData, 44)
	is(events[0].Flags, EventPeriodic)
	late := uint64(0)
	for _, count := range must(s.Stats()).Lateness {
		late += count
	}
	is(late, 1)
}

func TestWords(t *testing.T) {
	s := open(t, 8)
	before := Now()
	deadline := before + uint64(hour)
	must(s.Start(3, 0, 0))
	unread(s, 1)
	s.Refresh(3, deadline)
	must(s.Start(4, 0, 0))
	var events [1]Event
	must(s.Read(context.Background(), events[:]))
	is(events[0].ID, 4)
	// Now() reads the same clock as the kernel.
	is(events[0].ExpiredNs >= before && events[0].ExpiredNs <= Now(), true)
	is(must(s.Get(3)).DeadlineNs, deadline)
	must(0, s.Push(3, deadline-1, 0))
	is(must(s.Get(3)).DeadlineNs, deadline-1)
	s.StopByStore(3)
	is(s.words[3], WordStop)
	is(panics(func() { s.Refresh(8, deadline) }), true)
	must(0, s.Close())
	is(panics(func() { s.Refresh(3, deadline) }), true)
}

func TestListsAndBatches(t *testing.T) {
	s := open(t, 0)
	batch := must(s.Batch(200))
	for id := uint64(0); id < 199; id++ {
		is(len(must(batch.Start(id, hour, 2*id))), 0)
	}
	ops := must(batch.Stop(1000))
	is(len(ops), 200)
	must(0, ops[0].Err())
	wants(ops[199].Err(), syscall.ENOENT)
	all := must(s.List())
	is(len(all), 199)
	is(all[198].UserData, 396)
	must(batch.Stop(0))
	is(must(batch.Flush())[0].Result, 0)
	wants(failure(s.Batch(0)), syscall.EINVAL)
}

// Check that a context ends a Read that waits for an event, and one that waits for another Read.
func TestInterruptOfAWait(t *testing.T) {
	s := open(t, 0)
	ended := make(chan error)
	read := func(ctx context.Context) { ended <- failure(s.Read(ctx, make([]Event, 1))) }
	ctx, cancel := context.WithCancel(context.Background())
	go read(ctx)
	time.Sleep(10 * time.Millisecond)
	// This goroutine waits for the end of the first Read.
	impatient, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	go read(impatient)
	wants(<-ended, context.DeadlineExceeded)
	cancel()
	wants(<-ended, context.Canceled)
	must(s.Start(1, 0, 0))
	is(must(s.Read(context.Background(), make([]Event, 2))), 1)
	wants(failure(s.Read(context.Background(), nil)), syscall.EINVAL)
}

func TestUseAfterClose(t *testing.T) {
	s := open(t, 1)
	batch := must(s.Batch(1))
	must(0, s.Close())
	for _, err := range []error{
		failure(s.Start(1, hour, 0)), failure(s.Stop(1)), s.Push(0, 1, 0), failure(batch.Stop(1)), failure(s.List()),
		failure(s.Read(context.Background(), make([]Event, 1))), s.Close(),
	} {
		wants(err, os.ErrClosed)
	}
	is(panics(func() { s.Refresh(0, Now()) }), true)
}

func descriptors() int { return len(must(os.ReadDir("/proc/self/fd"))) }

// Check that the runtime closes sessions to which nothing refers.
func TestObjectDropped(t *testing.T) {
	before := descriptors()
	for i := 0; i < 50; i++ {
		must(Open(Setup{}))
	}
	for descriptors() > before {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func due(t *testing.T, count uint64) *Twheel {
	s := open(t, 0)
	for id := uint64(0); id < count; id++ {
		must(s.Start(id, 0, id))
	}
	unread(s, count)
	return s
}

// Check that Events reads no event ahead: while the first is handled, the others can be withdrawn.
func TestCancelOfASibling(t *testing.T) {
	s := due(t, 3)
	s.Events(context.Background())(func(event Event) bool {
		is(must(s.Stop((event.ID+1)%3)), 1)
		is(must(s.Start((event.ID+2)%3, 0, 200)), 2)
		return false
	})
	s.Events(context.Background())(func(event Event) bool {
		is(event.UserData, 200)
		must(0, s.Close())
		return true
	})
}

func TestManyDueAtOnce(t *testing.T) {
	const count = 10000
	s := due(t, count)
	seen := map[uint64]bool{}
	for len(seen) < count {
		var events [64]Event
		n := must(s.Read(context.Background(), events[:]))
		for _, event := range events[:n] {
			is(seen[event.ID], false)
			seen[event.ID] = true
		}
	}
}

// Check that Close may race with Start, Read and Refresh. The race detector runs this test, too.
func TestCloseDuringAWait(t *testing.T) {
	s := open(t, 1)
	var all sync.WaitGroup
	until := func(ends func() bool) {
		all.Add(1)
		go func() {
			defer all.Done()
			for !ends() {
			}
		}()
	}
	for i := uint64(0); i < 4; i++ {
		id := i
		until(func() bool { return errors.Is(failure(s.Start(id, 1, 0)), os.ErrClosed) })
		until(func() bool { return failure(s.Read(context.Background(), make([]Event, 8))) != nil })
	}
	until(func() bool { return panics(func() { s.Refresh(0, WordNone) }) })
	for must(s.Stats()).Delivered < 100 {
		time.Sleep(time.Millisecond)
	}
	must(0, s.Close())
	all.Wait()
}
