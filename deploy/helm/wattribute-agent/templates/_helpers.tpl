{{- /* SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- define "wattribute.name" -}}
{{- $both := printf "%s-%s" .Release.Name .Chart.Name }}
{{- ternary .Release.Name $both (contains .Chart.Name .Release.Name) | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "wattribute.account" -}}
{{- $made := ternary (include "wattribute.name" .) "default" .Values.serviceAccount.create }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{- define "wattribute.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "wattribute.labels" -}}
{{ include "wattribute.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}
