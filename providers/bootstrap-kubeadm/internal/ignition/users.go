package ignition

import (
	"fmt"
	"regexp"
	"strings"

	bootstrapv1 "github.com/slipway-capi/slipway/providers/bootstrap-kubeadm/api/v1beta2"
)

// user is an account; hash is nil where it has no password.
type user struct {
	name, gecos, home, shell, primaryGroup string
	hash                                   *string
	groups, keys                           []string
}

// userName is what useradd takes. Names become parts of other files here, so nothing else may pass.
var userName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*\$?$`)

func (p *plan) addUsers(users []bootstrapv1.User) error {
	var byPassword []string
	for _, u := range users {
		if !userName.MatchString(u.Name) {
			return fmt.Errorf("user %q: a name has letters, digits, _, . and -, and does not start with a digit", u.Name)
		}
		if strings.ContainsAny(u.Sudo, "\r\n") {
			return fmt.Errorf("user %s: sudo must be one line", u.Name)
		}
		p.users = append(p.users, userOf(u))
		if u.Sudo != "" {
			// sudo ignores files with a dot in their names.
			p.text("/etc/sudoers.d/"+strings.ReplaceAll(u.Name, ".", "_"), 0o600, u.Name+" "+u.Sudo+"\n")
		}
		if u.LockPassword != nil && !*u.LockPassword {
			byPassword = append(byPassword, u.Name)
		}
	}
	if len(byPassword) > 0 {
		p.text("/etc/ssh/sshd_config", 0o600, sshd(byPassword))
	}
	return nil
}

func userOf(u bootstrapv1.User) user {
	out := user{name: u.Name, gecos: u.Gecos, home: u.HomeDir, shell: u.Shell, primaryGroup: u.PrimaryGroup, keys: u.SSHAuthorizedKeys}
	for g := range strings.SplitSeq(u.Groups, ",") {
		if g = strings.TrimSpace(g); g != "" {
			out.groups = append(out.groups, g)
		}
	}
	if hash := u.Passwd; hash != "" {
		if u.LockPassword != nil && *u.LockPassword {
			hash = "!" + hash // as passwd --lock writes it
		}
		out.hash = &hash
	}
	return out
}

// sshd is the configuration of a server that takes keys from everyone and passwords from these users only.
func sshd(users []string) string {
	return strings.Join([]string{
		"Subsystem sftp internal-sftp",
		"UsePAM yes",
		"UseDNS no",
		"ClientAliveInterval 180",
		"PrintLastLog no",
		"PrintMotd no",
		"PasswordAuthentication no",
		"Match User " + strings.Join(users, ","),
		"  PasswordAuthentication yes",
	}, "\n") + "\n"
}
