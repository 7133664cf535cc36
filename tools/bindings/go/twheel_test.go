// SPDX-License-Identifier: GPL-2.0 OR MIT

package twheel

import (
	"context"
	"errors"
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

func open(tb testing.TB, words uint32) *Twheel {
	t, err := Open(Setup{SharedIds: words})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { t.Close() })
	return t
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func wants(tb testing.TB, err, wanted error) {
	tb.Helper()
	if !errors.Is(err, wanted) {
		tb.Fatalf("%v, and not %v", err, wanted)
	}
}

func unread(tb testing.TB, t *Twheel, count uint64) {
	for {
		stats, err := t.Stats()
		must(tb, err)
		if stats.Unread == count {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func panics(function func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	function()
	return
}

func TestBackends(t *testing.T) {
	asked := os.Getenv("TWHEEL_BACKEND") == "process"
	info, err := open(t, 0).Info()
	must(t, err)
	if in := info.Features&FeatureProcess != 0; in != asked {
		t.Fatal(in)
	}
	_, err = Open(Setup{TickNs: 1})
	wants(t, err, syscall.EINVAL)
	if !strings.Contains(err.Error(), "/dev/twheel") {
		t.Fatal(err)
	}
}

func TestSetup(t *testing.T) {
	s, err := Open(Setup{Flags: SetupPrivate, Clock: ClockBoottime, WakeNs: 1000})
	must(t, err)
	info, err := s.Info()
	must(t, err)
	if info.Clock != ClockBoottime || info.WakeNs != 1000 {
		t.Fatal(info)
	}
	// Without a descriptor, and in the process with any.
	if _, _, err = s.StartIdle(4, -1, hour, 0, 0); err == nil {
		t.Fatal("no error")
	}
	must(t, s.Close())
}

func TestTimers(t *testing.T) {
	s := open(t, 0)
	if pending, err := s.Start(3, hour, 33); pending || err != nil {
		t.Fatal(pending, err)
	}
	if pending, err := s.StartAt(3, Now()+uint64(hour), 34); !pending || err != nil {
		t.Fatal(pending, err)
	}
	entry, err := s.Get(3)
	must(t, err)
	if entry.UserData != 34 || entry.State != StatePending {
		t.Fatal(entry)
	}
	must(t, s.Stop(3))
	err = s.Stop(3)
	wants(t, err, syscall.ENOENT)
	if err.Error() != "twheel_stop: no such timer is pending" {
		t.Fatal(err)
	}
	_, err = s.Get(3)
	wants(t, err, syscall.ENOENT)
	if pending, err := s.Start(3, 1<<63-1, 0); pending || err != nil {
		t.Fatal(pending, err)
	}
	if pending, err := s.Restart(3, -1, 0); !pending || err != nil {
		t.Fatal(pending, err)
	}
	unread(t, s, 1)
	if withdrawn, err := s.Withdraw(3); !withdrawn || err != nil {
		t.Fatal(withdrawn, err)
	}
	id, _, err := s.StartFlags(IDAny, 0, 0, 44, 0)
	must(t, err)
	unread(t, s, 1)
	_, err = s.Start(id, hour, 0)
	wants(t, err, syscall.EALREADY)
	if withdrawn, err := s.Withdraw(id); !withdrawn || err != nil {
		t.Fatal(withdrawn, err)
	}
	info, err := s.Info()
	must(t, err)
	if info.AbiVersion != 1 || info.MaxBatch == 0 {
		t.Fatal(info)
	}
}

func TestWords(t *testing.T) {
	s := open(t, 8)
	deadline := Now() + uint64(hour)
	_, err := s.Start(3, 0, 0)
	must(t, err)
	unread(t, s, 1)
	s.Refresh(3, deadline)
	_, err = s.Start(4, 0, 0)
	must(t, err)
	var events [1]Event
	_, err = s.Read(context.Background(), events[:])
	if err != nil || events[0].ID != 4 {
		t.Fatal(events, err)
	}
	entry, err := s.Get(3)
	must(t, err)
	if entry.DeadlineNs != deadline || s.Word(3) != deadline {
		t.Fatal(entry)
	}
	must(t, s.Push(3, deadline-1, 0))
	if entry, err = s.Get(3); err != nil || entry.DeadlineNs != deadline-1 {
		t.Fatal(entry, err)
	}
	if pending, err := s.Restart(3, hour, 0); err != nil || !pending {
		t.Fatal(pending, err)
	}
	s.StopByStore(3)
	if s.Word(3) != WordStop {
		t.Fatal(s.Word(3))
	}
	if !panics(func() { s.Refresh(8, deadline) }) {
		t.Fatal("a timer without a word")
	}
	must(t, s.Close())
	if !panics(func() { s.Refresh(3, deadline) }) {
		t.Fatal("a closed session")
	}
}

func TestNowIsTheKernelsClock(t *testing.T) {
	s := open(t, 0)
	before := Now()
	_, err := s.StartAt(1, before, 0)
	must(t, err)
	var events [1]Event
	_, err = s.Read(context.Background(), events[:])
	must(t, err)
	if expired := events[0].ExpiredNs; expired < before || expired > Now() {
		t.Fatal(before, expired, Now())
	}
	stats, err := s.Stats()
	must(t, err)
	late := uint64(0)
	for _, count := range stats.Lateness {
		late += count
	}
	if late != 1 || len(stats.Lateness) != int(StatsLateness) {
		t.Fatal(stats)
	}
}

func TestCloseEndsRead(t *testing.T) {
	s := open(t, 0)
	_, err := s.Start(1, hour, 0)
	must(t, err)
	ended := make(chan error)
	for i := 0; i < 2; i++ {
		go func() {
			_, err := s.Read(context.Background(), make([]Event, 1))
			ended <- err
		}()
	}
	time.Sleep(10 * time.Millisecond)
	must(t, s.Close())
	wants(t, <-ended, os.ErrClosed)
	wants(t, <-ended, os.ErrClosed)
	wants(t, s.Stop(1), os.ErrClosed)
	wants(t, s.Close(), os.ErrClosed)
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// As an os.File, a session that nobody has any more is closed.
func TestDroppedSessionsAreClosed(t *testing.T) {
	before := descriptors(t)
	for i := 0; i < 50; i++ {
		_, err := Open(Setup{})
		must(t, err)
	}
	for descriptors(t) > before {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestContextEndsRead(t *testing.T) {
	s := open(t, 0)
	var events [2]Event
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error)
	go func() {
		_, err := s.Read(ctx, events[:1])
		first <- err
	}()
	time.Sleep(10 * time.Millisecond)
	impatient, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	_, err := s.Read(impatient, events[1:])
	wants(t, err, context.DeadlineExceeded)
	cancel()
	wants(t, <-first, context.Canceled)
	_, err = s.Start(1, 0, 0)
	must(t, err)
	n, err := s.Read(context.Background(), events[:])
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	_, err = s.Read(context.Background(), nil)
	wants(t, err, syscall.EINVAL)
}

func TestEventsLoseNothing(t *testing.T) {
	s := open(t, 0)
	const count = 100
	for id := uint64(0); id < count; id++ {
		_, err := s.Start(id, 0, id)
		must(t, err)
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
	must(t, s.Close())
	if _, ok := <-events; ok {
		t.Fatal("an event of a closed session")
	}
}

func TestListsAndBatches(t *testing.T) {
	s := open(t, 0)
	batch, err := s.Batch(200)
	must(t, err)
	for id := uint64(0); id < 199; id++ {
		if ops, err := batch.Start(id, hour, 2*id); len(ops) != 0 || err != nil {
			t.Fatal(ops, err)
		}
	}
	ops, err := batch.Stop(1000)
	must(t, err)
	if len(ops) != 200 || ops[0].Err() != nil {
		t.Fatal(len(ops))
	}
	wants(t, ops[199].Err(), syscall.ENOENT)
	all, err := s.List()
	must(t, err)
	if len(all) != 199 || all[198].UserData != 396 {
		t.Fatal(all)
	}
	all, err = s.Drain()
	if len(all) != 199 || err != nil {
		t.Fatal(len(all), err)
	}
	_, err = s.Batch(0)
	wants(t, err, syscall.EINVAL)
	must(t, s.Close())
	_, err = batch.Stop(1)
	wants(t, err, os.ErrClosed)
}

// For the race detector, too: Close comes while all else is under way.
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
	must(t, s.Close())
	all.Wait()
}
