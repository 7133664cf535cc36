// SPDX-License-Identifier: GPL-2.0 OR MIT

// heartbeat: idle timeouts of three connections, pushed back by stores.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"twheel.invalid/twheel"
)

const (
	connections = 3
	timeout     = 200 * time.Millisecond
	heartbeats  = 10
)

func try[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	t := try(twheel.Open(twheel.Setup{SharedIds: connections}))
	defer t.Close()
	batch := try(t.Batch(connections))
	for id := uint64(0); id < connections; id++ {
		for _, op := range try(batch.Start(id, timeout, id)) {
			try(0, op.Err())
		}
	}
	t.StopByStore(2)
	events := make([]twheel.Event, connections)
	beats, idle := 0, 0
	for idle < 2 {
		if beats < heartbeats {
			t.Refresh(0, twheel.Now()+uint64(timeout))
			beats++
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		n, err := t.Read(ctx, events)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			log.Fatal(err)
		}
		idle += n
	}
	fmt.Printf("%d heartbeats, %d idle\n", beats, idle)
}
