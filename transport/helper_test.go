package transport_test

import "time"

// deadlineSoon is when a read that must find nothing gives up.
func deadlineSoon() time.Time { return time.Now().Add(600 * time.Millisecond) }
