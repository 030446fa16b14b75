// Package sealing encrypts snapshots to the keys in a user's Secret and decrypts them again, with age
// (https://age-encryption.org). No error of it tells anything of a key.
package sealing

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	backupv1 "github.com/slipway-capi/slipway/providers/controlplane-kubeadm/api/backup/v1alpha1"
)

// ErrNoIdentity is returned when there is nothing to decrypt with.
var ErrNoIdentity = errors.New("there is no identity to decrypt with")

// Keys are those of a Secret.
type Keys struct {
	recipients []age.Recipient
	identities []age.Identity
}

// FromSecret reads the data of a Secret. The errors are for its author.
func FromSecret(data map[string][]byte) (Keys, error) {
	k := Keys{}
	if text := data[backupv1.IdentityKey]; len(bytes.TrimSpace(text)) > 0 {
		identities, err := age.ParseIdentities(bytes.NewReader(text))
		if err != nil {
			// age quotes what it cannot read.
			return Keys{}, fmt.Errorf("key %s holds no age identities: give lines that begin with AGE-SECRET-KEY-, as age-keygen writes them", backupv1.IdentityKey)
		}
		k.identities = identities
		for _, identity := range identities {
			switch i := identity.(type) {
			case *age.X25519Identity:
				k.recipients = append(k.recipients, i.Recipient())
			case *age.HybridIdentity:
				k.recipients = append(k.recipients, i.Recipient())
			}
		}
	}
	if text := data[backupv1.RecipientsKey]; len(bytes.TrimSpace(text)) > 0 {
		recipients, err := age.ParseRecipients(bytes.NewReader(text))
		if err != nil {
			return Keys{}, fmt.Errorf("key %s holds no age recipients: give lines that begin with age1", backupv1.RecipientsKey)
		}
		k.recipients = append(k.recipients, recipients...)
	}
	if len(k.recipients) == 0 {
		return Keys{}, fmt.Errorf("it has neither of the keys %s and %s: make an identity with age-keygen", backupv1.IdentityKey, backupv1.RecipientsKey)
	}
	if _, err := k.Seal(io.Discard); err != nil {
		return Keys{}, errors.New("its keys are of kinds that age does not use together: let all be post-quantum ones, or none")
	}
	return k, nil
}

// CanOpen says whether there is an identity.
func (k Keys) CanOpen() bool { return len(k.identities) > 0 }

// Seal encrypts what is written to the result; closing it ends the document, but does not close w.
func (k Keys) Seal(w io.Writer) (io.WriteCloser, error) {
	sealed, err := age.Encrypt(w, k.recipients...)
	if err != nil {
		return nil, fmt.Errorf("beginning to encrypt: %w", err)
	}
	return sealed, nil
}

// Open decrypts.
func (k Keys) Open(r io.Reader) (io.Reader, error) {
	if !k.CanOpen() {
		return nil, ErrNoIdentity
	}
	opened, err := age.Decrypt(r, k.identities...)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, errors.New("it is encrypted to other keys")
	}
	if err != nil {
		return nil, fmt.Errorf("beginning to decrypt: %w", err)
	}
	return opened, nil
}
