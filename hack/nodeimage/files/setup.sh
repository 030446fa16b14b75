#!/bin/bash
# Runs once inside the image that is being built: takes away what a container has no use for and loads the images.
set -euo pipefail
ln -sf /usr/share/zoneinfo/UTC /etc/localtime 2>/dev/null || true
rm -f /lib/systemd/system/multi-user.target.wants/* /etc/systemd/system/*.wants/* \
  /lib/systemd/system/local-fs.target.wants/* /lib/systemd/system/sockets.target.wants/*udev* \
  /lib/systemd/system/sockets.target.wants/*initctl* /lib/systemd/system/sysinit.target.wants/systemd-{udevd,udev-trigger,firstboot,modules-load,hwdb-update,repart,pcrphase*,binfmt,random-seed}*.service
systemctl mask --quiet systemd-binfmt.service systemd-logind.service getty.target console-getty.service systemd-udevd.service \
  systemd-resolved.service systemd-networkd.service haproxy.service systemd-timesyncd.service cloud-init.target
systemctl set-default --quiet multi-user.target
systemctl enable --quiet containerd.service kubelet.service
printf '[Journal]\nReadKMsg=no\nStorage=volatile\nRuntimeMaxUse=64M\n' >/etc/systemd/journald.conf
mkdir -p /opt/cni /etc/kubernetes/manifests /usr/local/etc/haproxy /etc/slipway/node
ln -sfn /usr/lib/cni /opt/cni/bin
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /usr/share/doc/* /usr/share/man/* /usr/share/locale/*

containerd --log-level error &
containerd=$!
until ctr version >/dev/null 2>&1; do sleep 0.1; done
# Not unpacked: a node unpacks what it runs, into a volume that is a copy of this.
ctr --namespace k8s.io images import --no-unpack /images.tar
ctr --namespace k8s.io images ls -q
kill $containerd
wait $containerd || true
rm -rf /images.tar /setup.sh /run/containerd /var/lib/containerd/io.containerd.content.v1.content/ingest
mkdir -p /var/lib/containerd/io.containerd.content.v1.content/ingest
