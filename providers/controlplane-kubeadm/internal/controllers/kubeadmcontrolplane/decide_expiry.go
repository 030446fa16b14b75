package kubeadmcontrolplane

import "time"

// noteExpiry writes down until when the certificates of machines are good, where that is not written yet.
func noteExpiry(w World, p *plan) {
	for _, m := range w.Machines {
		if m.CertificatesEnd.IsZero() || m.Config == nil || notedExpiry(m).Equal(m.CertificatesEnd) {
			continue
		}
		p.do(NoteExpiry{Machine: m, At: m.CertificatesEnd.UTC().Format(time.RFC3339)})
	}
}
