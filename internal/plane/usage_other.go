//go:build !linux

package plane

import "errors"

func usage(int) (Usage, error) { return Usage{}, errors.ErrUnsupported }
