#!/bin/sh
# Writes the rules of a monitor.yaml as a PrometheusRule; further arguments are those of `monitor rules`:
#   prometheusrule.sh base/monitor.yaml --runbooks https://wiki.example.com/monitor/ > base/prometheusrule.yaml
set -eu
rules=$(monitor rules -c "$@")
cat <<HEAD
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: monitor
spec:
HEAD
printf '%s\n' "$rules" | sed 's/^\(..*\)/  \1/'
