package binaries

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheVariable is the environment variable that moves the cache.
const CacheVariable = "SLIPWAY_CACHE"

// Cache is the folder that holds built programs as <set>/<version>/<program>.
type Cache string

// DefaultCache is $SLIPWAY_CACHE, else the folder slipway in the user's cache folder.
func DefaultCache() (Cache, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return Cache(dir), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set %s instead): %w", CacheVariable, err)
	}
	return Cache(filepath.Join(dir, "slipway")), nil
}

// Dir is where the programs of a set are kept.
func (c Cache) Dir(set Set) string {
	return filepath.Join(string(c), set.Name, set.Version)
}

// Path is where a program of a set is kept; it need not be there yet.
func (c Cache) Path(set Set, program string) string {
	return filepath.Join(c.Dir(set), program)
}

// Missing lists those of the named programs that are not in the cache, in the set's order. No names means all of the set.
func (c Cache) Missing(set Set, names ...string) ([]Program, error) {
	wanted, err := set.Select(names...)
	if err != nil {
		return nil, err
	}
	var missing []Program
	for _, p := range wanted {
		info, err := os.Stat(c.Path(set, p.Name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			missing = append(missing, p)
		}
	}
	return missing, nil
}
