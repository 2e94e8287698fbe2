#!/bin/sh
# Builds an OpenTelemetry Collector with what the benchmark needs of it: otlp receiver, kafka exporter, health_check. Needs Go 1.25 or newer.
# Usage: build-otelcol.sh FILE
set -eu
version=0.155.0 confmap=1.61.0
core=go.opentelemetry.io/collector contrib=github.com/open-telemetry/opentelemetry-collector-contrib
case ${1:?Usage: build-otelcol.sh FILE} in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > builder.yaml <<YAML
dist: {name: otelcol, module: local/otelcol, version: $version, output_path: $dir, build_tags: grpcnotrace}
receivers:
  - gomod: $core/receiver/otlpreceiver v$version
exporters:
  - gomod: $contrib/exporter/kafkaexporter v$version
extensions:
  - gomod: $contrib/extension/healthcheckextension v$version
providers:
  - gomod: $core/confmap/provider/fileprovider v$confmap
  - gomod: $core/confmap/provider/envprovider v$confmap
YAML
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
# The builder only writes the sources: left to itself it would fetch the dependencies of all tests, too.
go run "$core/cmd/builder@v$version" --config=builder.yaml --skip-get-modules --skip-compilation
{
  printf 'module local/otelcol\ngo 1.25.0\nrequire %s v%s\n' "$core/otelcol" "$version"
  sed -n 's/^  - gomod: /require /p' builder.yaml
} > go.mod
go build -mod=mod -trimpath -tags grpcnotrace -ldflags '-s -w' -o "$out" .
