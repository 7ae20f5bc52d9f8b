# SPDX-License-Identifier: Apache-2.0
# Control groups by systemd: transient scopes, and the user manager's.

load ../lib

needs root box systemd

@test "--systemd-cgroup makes a transient scope with the limits" {
	bundle '.linux.resources += {pids: {limit: 7}}'
	config '.linux.cgroupsPath = "system.slice:osh:\($id)"' --arg id "$ID"
	script 'exec sleep 300'
	rt --systemd-cgroup create --bundle "$BUNDLE" "$ID" </dev/null \
		>/dev/null 2>&1
	[ "$(systemctl show -p TasksMax --value "osh-$ID.scope")" = 7 ]
	rt --systemd-cgroup delete --force "$ID"
	refute systemctl is-active "osh-$ID.scope"
}

@test "a rootless exec joins the cgroup by systemd, without EPERM" {
	skip "needs a login session of another user: runs in hack/vm"
}
