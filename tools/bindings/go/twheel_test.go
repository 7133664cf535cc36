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
	"sync/atomic"
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

func TestSetup(t *testing.T) {
	s := must(Open(Setup{Flags: SetupPrivate, Clock: ClockBoottime, WakeNs: 1000}))
	info := must(s.Info())
	is(info.AbiVersion, 1)
	is(info.Clock, ClockBoottime)
	is(info.WakeNs, 1000)
	is(info.Features&FeatureProcess != 0, os.Getenv("TWHEEL_BACKEND") == "process")
	must(0, s.Close())
	_, err := Open(Setup{TickNs: 1})
	wants(err, syscall.EINVAL)
	is(strings.Contains(err.Error(), "/dev/twheel"), true)
}

func TestTimers(t *testing.T) {
	s := open(t, 0)
	is(must(s.Start(3, hour, 33)), false)
	id, pending, err := s.StartFlags(3, Now()+uint64(hour), 0, 34, StartAbs)
	is(must(id, err), 3)
	is(pending, true)
	entry := must(s.Get(3))
	is(entry.UserData, 34)
	is(entry.State, StatePending)
	must(0, s.Stop(3))
	err = s.Stop(3)
	wants(err, syscall.ENOENT)
	is(err.Error(), "twheel_stop: no such timer is pending")
	_, err = s.Get(3)
	wants(err, syscall.ENOENT)
	is(must(s.Start(3, 1<<63-1, 0)), false)
	is(must(s.Start(3, -1, 0)), true)
	unread(s, 1)
	_, err = s.Start(3, hour, 0)
	wants(err, syscall.EALREADY)
	is(must(s.Withdraw(3)), true)
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
	// The descriptor is invalid, and sessions in the process refuse all.
	_, _, err = s.StartIdle(4, -1, hour, 0, 0)
	is(err != nil, true)
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
	// Now is the kernel's clock.
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
	must(batch.Withdraw(0))
	is(must(batch.Flush())[0].Result, 0)
	_, err := s.Batch(0)
	wants(err, syscall.EINVAL)
	must(0, s.Close())
	_, err = batch.Stop(1)
	wants(err, os.ErrClosed)
}

func TestReadEnds(t *testing.T) {
	s := open(t, 0)
	ended := make(chan error)
	read := func(ctx context.Context) {
		_, err := s.Read(ctx, make([]Event, 1))
		ended <- err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go read(ctx)
	time.Sleep(10 * time.Millisecond)
	// It waits behind the other.
	impatient, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	go read(impatient)
	wants(<-ended, context.DeadlineExceeded)
	cancel()
	wants(<-ended, context.Canceled)
	must(s.Start(1, 0, 0))
	is(must(s.Read(context.Background(), make([]Event, 2))), 1)
	_, err := s.Read(context.Background(), nil)
	wants(err, syscall.EINVAL)
	go read(context.Background())
	go read(context.Background())
	time.Sleep(10 * time.Millisecond)
	must(0, s.Close())
	wants(<-ended, os.ErrClosed)
	wants(<-ended, os.ErrClosed)
	wants(s.Stop(1), os.ErrClosed)
	wants(s.Close(), os.ErrClosed)
}

func descriptors() int { return len(must(os.ReadDir("/proc/self/fd"))) }

// The runtime closes a session that is no longer referenced, as an os.File.
func TestDroppedSessionsAreClosed(t *testing.T) {
	before := descriptors()
	for i := 0; i < 50; i++ {
		must(Open(Setup{}))
	}
	for descriptors() > before {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestEventsLoseNothing(t *testing.T) {
	s := open(t, 0)
	const count = 100
	for id := uint64(0); id < count; id++ {
		must(s.Start(id, 0, id))
	}
	seen := map[uint64]bool{}
	for len(seen) < count {
		ctx, cancel := context.WithCancel(context.Background())
		events := s.Events(ctx)
		for i := 0; i < 3 && len(seen) < count; i++ {
			seen[(<-events).ID] = true
		}
		cancel()
		for event := range events {
			seen[event.ID] = true
		}
	}
	events := s.Events(context.Background())
	must(0, s.Close())
	_, ok := <-events
	is(ok, false)
}

// Close races with all other calls. Also for the race detector.
func TestGoroutines(t *testing.T) {
	s := open(t, 0)
	var all sync.WaitGroup
	var expired uint64
	for i := uint64(0); i < 4; i++ {
		all.Add(2)
		go func(id uint64) {
			defer all.Done()
			for {
				if _, _, err := s.StartFlags(id, 1, 0, 0, 0); errors.Is(err, os.ErrClosed) {
					return
				}
			}
		}(i)
		go func() {
			defer all.Done()
			for {
				n, err := s.Read(context.Background(), make([]Event, 8))
				if err != nil {
					return
				}
				atomic.AddUint64(&expired, uint64(n))
			}
		}()
	}
	for atomic.LoadUint64(&expired) < 100 {
		time.Sleep(time.Millisecond)
	}
	must(0, s.Close())
	all.Wait()
}
