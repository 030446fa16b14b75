package cloudconfig

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
)

// Where a machine keeps the state of its bootstrap. The folder outlives a restart of the container, /run does not.
const (
	StateFolder = "/var/lib/slipway/bootstrap"
	// ScriptFile is where the script is to be put.
	ScriptFile = StateFolder + "/run.sh"
	// StartedFile exists from right before the script is started.
	StartedFile = StateFolder + "/started"
	// ResultFile holds, once the script has ended, "completed", or "failed" and what failed.
	ResultFile = StateFolder + "/result"
	// LogFile holds the output of all commands.
	LogFile = StateFolder + "/log"
	// Sentinel is written by the bootstrap data itself on success; that is part of the bootstrap contract.
	Sentinel = "/run/cluster-api/bootstrap-success.complete"
	// StartSentinel marks the start where other tools look for it.
	StartSentinel = "/run/cluster-api/capd.bootstrap.started"
)

// noting are functions for both shells: each step notes when it begins and how it ends.
const noting = `begin() { _slipway_step=$1; printf 'begin\t%s\t%s\n' "$1" "$(wc -c <"$_slipway_state/log")" >>"$_slipway_state/steps"; }
end() {
  printf 'end\t%s\n' "$1" >>"$_slipway_state/steps"
  [ "$1" -eq 0 ] || echo "$_slipway_step ended with status $1" >>"$_slipway_state/failed"
}
`

const prologue = `#!/bin/bash
state=` + StateFolder + `
export _slipway_state=$state
umask 022
exec >>$state/log 2>&1 </dev/null
rm -f $state/failed $state/steps
` + noting

// With the sentinel all is well, whatever else failed; without it all must have gone well.
const epilogue = `rm -f $state/bootcmd $state/runcmd $state/run.sh
if [ -e ` + Sentinel + ` ] || [ ! -e $state/failed ]; then
  echo completed >$state/result.new
else
  { echo failed; cat $state/failed; } >$state/result.new
fi
mv $state/result.new $state/result
`

// Script renders a document as a script for bash that does everything once and leaves its result in ResultFile.
func Script(d Document) string {
	var b strings.Builder
	b.WriteString(prologue)
	early := make([]string, len(d.BootCommands))
	for i := range early {
		early[i] = fmt.Sprintf("bootCommands[%d]", i)
	}
	writeCommands(&b, "bootcmd", early, d.BootCommands)
	for _, f := range d.Files {
		if !f.Deferred {
			writeFile(&b, f)
		}
	}
	for _, u := range d.Users {
		writeUser(&b, u)
	}
	for _, f := range d.Files {
		if f.Deferred {
			writeFile(&b, f)
		}
	}
	writeCommands(&b, "runcmd", names(d.RunCommands), d.RunCommands)
	b.WriteString(epilogue)
	return b.String()
}

func writeFile(b *strings.Builder, f File) {
	p, redirect := quote(f.Path), ">"
	if f.Append {
		redirect = ">>"
	}
	fmt.Fprintf(b, "begin %s\n", quote("writing file "+printable(f.Path)))
	steps := []string{"mkdir -p " + quote(path.Dir(f.Path)), fmt.Sprintf("base64 -d %s%s <<'END'", redirect, p)}
	fmt.Fprintf(b, "{ %s\n%s\nEND\n", strings.Join(steps, " && "), wrap(f.Content))
	b.WriteString("} ")
	if f.Permissions != "" {
		fmt.Fprintf(b, "&& chmod %s %s ", quote(f.Permissions), p)
	}
	if f.Owner != "" {
		fmt.Fprintf(b, "&& chown %s %s ", quote(f.Owner), p)
	}
	b.WriteString("\nend $?\n")
}

func wrap(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var lines []string
	for len(text) > 76 {
		lines, text = append(lines, text[:76]), text[76:]
	}
	return strings.Join(append(lines, text), "\n")
}

// printable keeps a step's name in one field of one line.
func printable(name string) string { return strings.Join(strings.Fields(name), " ") }

// writeCommands makes one script of the commands, as cloud-init does: they share variables and the working directory. A
// command may end the script; its status then is the script's.
func writeCommands(b *strings.Builder, name string, steps, commands []string) {
	if len(commands) == 0 {
		return
	}
	var s strings.Builder
	// The names of the functions are ours alone: a command may well define "end".
	s.WriteString("#!/bin/sh\n" + strings.NewReplacer("begin()", "_slipway_begin()", "end()", "_slipway_end()").Replace(noting))
	for i, c := range commands {
		fmt.Fprintf(&s, "_slipway_begin %s\n%s\n_slipway_end $?\n", quote(steps[i]), c)
	}
	fmt.Fprintf(b, "base64 -d >$state/%s <<'END'\n%s\nEND\n", name, wrap([]byte(s.String())))
	fmt.Fprintf(b, "/bin/sh $state/%s || { s=$?; printf 'end\\t%%s\\n' $s >>$state/steps; echo \"%s ended early with status $s\" >>$state/failed; }\n", name, name)
}

func writeUser(b *strings.Builder, u User) {
	args := []string{"useradd", "--create-home"}
	option := func(name, value string) {
		if value != "" {
			args = append(args, name, quote(value))
		}
	}
	option("--comment", u.Gecos)
	option("--home-dir", u.HomeDir)
	option("--shell", u.Shell)
	option("--gid", u.PrimaryGroup)
	groups := words(u.Groups)
	option("--groups", strings.Join(groups, ","))
	option("--password", u.Passwd)
	if days, ok := u.Inactive.(string); ok {
		option("--inactive", days)
	}
	if u.PrimaryGroup != "" {
		groups = append(groups, u.PrimaryGroup)
	}
	name := quote(u.Name)
	fmt.Fprintf(b, "begin %s\n", quote("making user "+printable(u.Name)))
	b.WriteString("{\n")
	for _, g := range groups {
		fmt.Fprintf(b, "groupadd --force %s\n", quote(g))
	}
	fmt.Fprintf(b, "id %s >/dev/null 2>&1 || %s %s\n", name, strings.Join(args, " "), name)
	b.WriteString("} ")
	if u.LockPasswd == nil || *u.LockPasswd {
		fmt.Fprintf(b, "&& usermod --lock %s ", name)
	}
	b.WriteString("\nend $?\n")
	if rules := sudoRules(u); len(rules) > 0 {
		file := "/etc/sudoers.d/90-cloud-init-users"
		writeFile(b, File{Path: file, Append: true, Permissions: "0440", Content: []byte(strings.Join(rules, "\n") + "\n")})
	}
	if len(u.SSHAuthorizedKeys) > 0 {
		home := u.HomeDir
		if home == "" {
			home = "/home/" + u.Name
		}
		file := home + "/.ssh/authorized_keys"
		writeFile(b, File{Path: file, Append: true, Permissions: "0600", Content: []byte(strings.Join(u.SSHAuthorizedKeys, "\n") + "\n")})
		fmt.Fprintf(b, "chown -R %s: %s\n", name, quote(path.Dir(file)))
	}
}

func sudoRules(u User) []string {
	var rules []any
	switch v := u.Sudo.(type) {
	case string:
		rules = []any{v}
	case []any:
		rules = v
	}
	var out []string
	for _, r := range rules {
		out = append(out, fmt.Sprintf("%s %v", u.Name, r))
	}
	return out
}
