package v1beta2

import (
	"bytes"
	"encoding/json"
)

// JSON is any JSON value, kept byte for byte: the value of a variable, a default, a patch.
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:Type=""
type JSON struct {
	// Raw is the value as it is on the wire; empty means absent.
	Raw []byte `json:"-"`
}

// MarshalJSON writes the value as it is; an absent one becomes null.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j.Raw) == 0 {
		return []byte("null"), nil
	}
	return j.Raw, nil
}

// UnmarshalJSON keeps a copy of the value; null means absent.
func (j *JSON) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		j.Raw = nil
		return nil
	}
	var probe json.RawMessage
	if err := json.Unmarshal(data, &probe); err != nil {
		return err
	}
	j.Raw = append([]byte(nil), data...)
	return nil
}

// IsZero says whether there is no value, so that encoders leave the field out.
func (j JSON) IsZero() bool { return len(j.Raw) == 0 }
