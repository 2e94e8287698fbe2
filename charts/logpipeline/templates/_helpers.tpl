{{/* Name of the operator's objects, short enough for what is added to it. */}}
{{- define "logpipeline.fullname" -}}
{{- $release := .Release.Name | replace "." "-" }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if regexMatch "^[0-9]" $release }}
{{- /* Services cannot be called so. */}}
{{- printf "logpipeline-operator-%s" ($release | trunc 25 | trimSuffix "-") }}
{{- else if hasSuffix "logpipeline-operator" $release }}
{{- $release | trunc 46 | trimSuffix "-" }}
{{- else if hasSuffix "logpipeline" $release }}
{{- printf "%s-operator" ($release | trunc 37 | trimSuffix "-") }}
{{- else }}
{{- printf "%s-logpipeline-operator" ($release | trunc 25 | trimSuffix "-") }}
{{- end }}
{{- end }}

{{/* Of objects without a namespace. Releases that watch namespaces of their own share a cluster, and may have one name. */}}
{{- define "logpipeline.clusterWideName" -}}
{{- include "logpipeline.fullname" . }}
{{- if .Values.watchNamespaces }}-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{/* The name is not that of the pipelines' pods, which their Services select. */}}
{{- define "logpipeline.selectorLabels" -}}
{{- toYaml (dict "app.kubernetes.io/name" "logpipeline-operator" "app.kubernetes.io/instance" .Release.Name) }}
{{- end }}

{{/* Those that select come first: nothing may replace them. */}}
{{- define "logpipeline.labels" -}}
{{- $others := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")
  "app.kubernetes.io/component" "operator"
  "app.kubernetes.io/part-of" "logpipeline"
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service }}
{{- toYaml (merge (include "logpipeline.selectorLabels" . | fromYaml) (default dict .Values.commonLabels) $others) }}
{{- end }}

{{/* Nothing that changes with the version of the chart: pods roll when something of theirs does. */}}
{{- define "logpipeline.podLabels" -}}
{{- $own := set (include "logpipeline.selectorLabels" . | fromYaml) "app.kubernetes.io/component" "operator" }}
{{- toYaml (merge $own (default dict .Values.podLabels) (default dict .Values.commonLabels)) }}
{{- end }}

{{- define "logpipeline.crdAnnotations" -}}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep }}
{{- with merge $keep (default dict .Values.crds.annotations) }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "logpipeline.serviceAccountName" -}}
{{- default (ternary (include "logpipeline.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "logpipeline.image" -}}
{{- with .Values.image }}
{{- if not .repository }}
{{- fail "image.repository: expected the image of the operator, where the nodes of the cluster find it; build it (docker build), push it, and give its name: --set image.repository=registry.example.com/logpipeline" }}
{{- end }}
{{- if contains "://" .repository }}
{{- fail (printf "image.repository: expected a name such as registry.example.com/logpipeline, without https://, seen %s" .repository) }}
{{- end }}
{{- if regexMatch "@|:[^/]*$" .repository }}
{{- fail (printf "image.repository: expected the image without tag and digest, which are image.tag and image.digest, seen %s" .repository) }}
{{- end }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The subject of the operator's bindings. */}}
{{- define "logpipeline.subjects" -}}
- kind: ServiceAccount
  name: {{ include "logpipeline.serviceAccountName" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
{{- end }}
