// SPDX-License-Identifier: GPL-2.0

// Timers of Go's runtime replay a trace (tests/bench/compared/trace.h).
//
// Documents: package time: AfterFunc, whose function runs in a goroutine of its own, Reset and
// Stop. A timer of AfterFunc has no channel, so there is nothing to drain. net/http keeps the
// idle timer of a connection in this way.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	opOpen = iota
	opBeat
	opClose
	opFull
	opEnd
)

const (
	magic     = 0x43525754
	busyEvery = 100 * time.Millisecond
	busyFor   = 20 * time.Millisecond
)

var (
	trace                          []byte
	connections, records, expiries uint32
	empty, late, busy              bool
	meter                          *os.File
	begin                          time.Time
	timers                         []*time.Timer
	expired                        uint32
	deadlines, lateness            []int64 // since the begin
	busyAt                         = busyEvery
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go:", err)
		os.Exit(1)
	}
}

func mark(word string) {
	_, err := meter.WriteString(word)
	check(err)
}

func number(at int) uint32 {
	return binary.LittleEndian.Uint32(trace[at:])
}

func readTrace(name string) {
	file, err := os.Open(name)
	check(err)
	info, err := file.Stat()
	check(err)
	trace, err = syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ,
		syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	check(err)
	connections, records, expiries = number(4), number(8), number(12)
	if number(0) != magic || len(trace) != 32+16*int(records) {
		check(fmt.Errorf("%s is no trace", name))
	}
}

func timerExpired(connection uint32) {
	i := atomic.AddUint32(&expired, 1) - 1
	if late && i < expiries {
		lateness[i] = int64(time.Since(begin)) - atomic.LoadInt64(&deadlines[connection])
	}
}

func operate(op, connection uint32, timeout, now time.Duration) {
	if empty {
		return
	}
	if late {
		atomic.StoreInt64(&deadlines[connection], int64(now+timeout))
	}
	switch op {
	case opOpen:
		timers[connection] = time.AfterFunc(timeout, func() { timerExpired(connection) })
	case opBeat:
		timers[connection].Reset(timeout)
	case opClose:
		timers[connection].Stop()
	}
}

// A handler that comes after the others.
func compute(now time.Duration) {
	if !busy || now < busyAt {
		return
	}
	for end := time.Since(begin) + busyFor; time.Since(begin) < end; {
	}
	busyAt += busyEvery
}

func stepOf(at int) time.Duration {
	return time.Duration(number(at)) * 1001 * time.Microsecond
}

func replay() {
	for at := 32; ; {
		next := stepOf(at)
		if busy && busyAt < next {
			next = busyAt
		}
		time.Sleep(next - time.Since(begin))
		now := time.Since(begin)
		for ; stepOf(at) <= now; at += 16 {
			switch op := number(at + 8); op {
			case opEnd:
				return
			case opFull:
				mark("full")
			default:
				operate(op, number(at+4), time.Duration(number(at+12))*time.Millisecond, now)
			}
		}
		compute(now)
	}
}

func report() {
	fmt.Println("expired", expired, "timers")
	if expired != expiries {
		check(fmt.Errorf("not %d expired", expiries))
	}
	if !late {
		return
	}
	sort.Slice(lateness, func(i, j int) bool { return lateness[i] < lateness[j] })
	nr := len(lateness)
	early := sort.Search(nr, func(i int) bool { return lateness[i] >= 0 })
	earliest := int64(0)
	if early > 0 {
		earliest = -lateness[0]
	}
	fmt.Println("early", early, "timers")
	fmt.Println("earliest", earliest, "ns")
	fmt.Println("p50", lateness[nr/2], "ns")
	fmt.Println("p99", lateness[nr-1-nr/100], "ns")
	fmt.Println("worst", lateness[nr-1], "ns")
	if early > 0 {
		check(fmt.Errorf("%d expired early", early))
	}
}

func main() {
	if len(os.Args) != 3 {
		os.Exit(2)
	}
	empty = os.Args[2] == "empty"
	busy = os.Args[2] == "busy"
	late = busy || os.Args[2] == "late"
	readTrace(os.Args[1])
	timers = make([]*time.Timer, connections)
	if late {
		deadlines = make([]int64, connections)
		lateness = make([]int64, expiries)
	}
	var err error
	meter, err = os.OpenFile("/proc/twheel_meter", os.O_WRONLY, 0)
	check(err)
	mark("begin")
	begin = time.Now()
	replay()
	mark("end")
	if !empty {
		report()
	}
}
