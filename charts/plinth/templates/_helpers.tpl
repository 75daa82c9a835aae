{{/* Name of everything of a release: it is part of the names of pods, so it is cut. */}}
{{- define "plinth.name" -}}
{{- if contains "plinth" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-plinth" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "plinth.selector" -}}
app.kubernetes.io/name: plinth
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "plinth.labels" -}}
{{ include "plinth.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "plinth.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "plinth.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "plinth.name" .) }}
{{- end -}}

{{- define "plinth.databaseSecret" -}}
{{ .Values.database.existingSecret | default (printf "%s-database" (include "plinth.name" .)) }}
{{- end -}}

{{- define "plinth.databaseEnv" -}}
- name: PLINTH_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "plinth.databaseSecret" . }}
      key: {{ .Values.database.secretKey }}
{{- end -}}

{{- define "plinth.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "plinth.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}
