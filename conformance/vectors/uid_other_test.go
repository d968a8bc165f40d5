//go:build !linux

package vectors_test

import "errors"

func canChange() bool { return false }

func asUID(int, func() error) error { return errors.ErrUnsupported }
