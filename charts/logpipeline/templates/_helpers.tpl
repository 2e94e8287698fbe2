{{/* Name of the operator's objects, short enough for what is added to it. */}}
{{- define "logpipeline.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if hasSuffix "logpipeline-operator" .Release.Name }}
{{- .Release.Name | trunc 46 | trimSuffix "-" }}
{{- else if hasSuffix "logpipeline" .Release.Name }}
{{- printf "%s-operator" (.Release.Name | trunc 37 | trimSuffix "-") }}
{{- else }}
{{- printf "%s-logpipeline-operator" (.Release.Name | trunc 25 | trimSuffix "-") }}
{{- end }}
{{- end }}

{{/* The name is not that of the pipelines' pods, which their Services select. */}}
{{- define "logpipeline.selectorLabels" -}}
app.kubernetes.io/name: logpipeline-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "logpipeline.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "logpipeline.selectorLabels" . }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: logpipeline
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "logpipeline.crdAnnotations" -}}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep") (dict) .Values.crds.keep }}
{{- with merge $keep .Values.crds.annotations }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "logpipeline.serviceAccountName" -}}
{{- default (ternary (include "logpipeline.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "logpipeline.image" -}}
{{- with .Values.image }}
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
  name: {{ include "logpipeline.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
