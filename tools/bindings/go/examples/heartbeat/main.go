// SPDX-License-Identifier: GPL-2.0 OR MIT

// heartbeat: idle timeouts of three connections, pushed back by stores.
package main

import (
	"context"
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
	events := t.Events(context.Background())
	ticker := time.NewTicker(20 * time.Millisecond)
	beats, idle := 0, 0
	for idle < 2 {
		select {
		case <-events:
			idle++
		case <-ticker.C:
			if beats < heartbeats {
				t.Refresh(0, twheel.Now()+uint64(timeout))
				beats++
			}
		}
	}
	fmt.Printf("%d heartbeats, %d idle\n", beats, idle)
}
