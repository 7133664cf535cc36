// SPDX-License-Identifier: GPL-2.0

// bench TIMERS ROUNDS: print what a refresh of one of TIMERS pending timers takes, in ns of CPU time, in CSV
package main

import (
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"syscall"
	"time"

	"twheel.invalid/twheel"
)

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	timers, rounds := number(os.Args[1]), number(os.Args[2])
	t, err := twheel.Open(twheel.Setup{SharedIds: uint32(timers)})
	if err != nil {
		log.Fatal(err)
	}
	ids := rand.New(rand.NewSource(1)).Perm(timers)
	own := make([]*time.Timer, timers)
	for _, id := range ids {
		own[id] = time.AfterFunc(time.Hour, func() {})
		t.Start(uint64(id), time.Hour, 0)
	}
	ways := []func(id int){
		func(id int) { own[id].Reset(time.Hour) },
		func(id int) { t.Start(uint64(id), time.Hour, 0) },
		func(id int) { t.Push(uint64(id), twheel.Now()+uint64(time.Hour), 0) },
		func(id int) { t.Refresh(uint64(id), twheel.Now()+uint64(time.Hour)) },
	}
	total := make([]int64, len(ways))
	for round := -1; round < rounds; round++ {
		for i, refresh := range ways {
			begin := cpuNs()
			for _, id := range ids {
				refresh(id)
			}
			if round >= 0 {
				total[i] += cpuNs() - begin
			}
		}
	}
	fmt.Print("Go,``Timer.Reset()``")
	for _, took := range total {
		fmt.Print(",", took/int64(timers*rounds))
	}
	fmt.Println()
}
