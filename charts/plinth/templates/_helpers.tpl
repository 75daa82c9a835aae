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
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
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

{{/* Flags of every process that uses the database. */}}
{{- define "plinth.databaseFlags" -}}
- --database-url-file=/etc/plinth-database/url/{{ .Values.database.secretKey }}
{{- with .Values.database.passwordCommand }}
- {{ printf "--database-password-command=%s" . | quote }}
{{- end }}
{{- end -}}

{{- define "plinth.databaseMounts" -}}
- name: database
  mountPath: /etc/plinth-database/url
  readOnly: true
{{- if or .Values.database.authority.existingSecret .Values.database.authority.existingConfigMap }}
- name: database-authority
  mountPath: /etc/plinth-database/authority
  readOnly: true
{{- end }}
{{- end -}}

{{- define "plinth.databaseVolumes" -}}
- name: database
  secret:
    secretName: {{ include "plinth.databaseSecret" . }}
    # 0440 in octal, which not every reader of YAML understands.
    defaultMode: 288
    items:
      - { key: {{ .Values.database.secretKey }}, path: {{ .Values.database.secretKey }} }
{{- with .Values.database.authority }}
{{- if .existingSecret }}
- name: database-authority
  secret:
    secretName: {{ .existingSecret }}
    items:
      - { key: {{ .key }}, path: ca.crt }
{{- else if .existingConfigMap }}
- name: database-authority
  configMap:
    name: {{ .existingConfigMap }}
    items:
      - { key: {{ .key }}, path: ca.crt }
{{- end }}
{{- end }}
{{- end -}}

{{/* The volume of certificates and keys: `files` are the names of those that the component reads. */}}
{{- define "plinth.pkiVolume" -}}
- name: pki
{{- if .root.Values.certificates.certManager.enabled }}
  projected:
    defaultMode: 288
    sources:
      {{- $name := include "plinth.name" .root }}
      {{- range .files }}
      {{- $parts := splitList "." . }}
      {{- $base := first $parts }}
      - secret:
          name: {{ $name }}-{{ $base }}
          items:
            - { key: tls.{{ last $parts }}, path: {{ . }} }
      {{- end }}
{{- else }}
  secret:
    secretName: {{ .root.Values.certificates.existingSecret }}
    # 0440 in octal, which not every reader of YAML understands.
    defaultMode: 288
    items:
      {{- range .files }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end }}
{{- end -}}

{{/* What an operator may set of the pods of a component: `values` are those of the component. */}}
{{- define "plinth.podOptions" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "plinth.podMetadata" -}}
labels:
  {{- include "plinth.labels" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .values.podAnnotations .annotations }}
annotations:
  {{- with .annotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "plinth.containerSecurity" -}}
{{- with .Values.containerSecurityContext -}}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Flags of configuration files that both components read. */}}
{{- define "plinth.sharedConfigurationFlags" -}}
{{- with .Values.configuration -}}
{{- if .authorization }}
- --authorization-config=/etc/plinth-configuration/authorization.yaml
{{- else }}
- --authorization-mode=Node,RBAC
{{- end }}
{{- if .admission }}
- --admission-control-config-file=/etc/plinth-configuration/admission.yaml
{{- end }}
{{- if .tracing }}
- --tracing-config-file=/etc/plinth-configuration/tracing.yaml
{{- end }}
{{- if .encryption.existingSecret }}
- --encryption-provider-config=/etc/plinth-encryption/encryption.yaml
- --encryption-provider-config-automatic-reload
{{- end }}
{{- end }}
{{- end -}}

{{- define "plinth.configurationTexts" -}}
{{- with .Values.configuration }}
{{- range $file, $text := dict "audit-policy.yaml" .auditPolicy "authentication.yaml" .authentication "authorization.yaml" .authorization "admission.yaml" .admission "tracing.yaml" .tracing }}
{{- if $text }}
{{ $file }}: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Makes pods restart when a text of the configuration changes. */}}
{{- define "plinth.checksums" -}}
{{- with include "plinth.configurationTexts" . | trim }}
checksum/configuration: {{ sha256sum . }}
{{- end }}
{{- end -}}

{{- define "plinth.configurationMounts" -}}
{{- if include "plinth.configurationTexts" . | trim }}
- name: configuration
  mountPath: /etc/plinth-configuration
  readOnly: true
{{- end }}
{{- if .Values.configuration.encryption.existingSecret }}
- name: encryption
  mountPath: /etc/plinth-encryption
  readOnly: true
{{- end }}
{{- end -}}

{{- define "plinth.configurationVolumes" -}}
{{- if include "plinth.configurationTexts" . | trim }}
- name: configuration
  configMap:
    name: {{ include "plinth.name" . }}-configuration
{{- end }}
{{- with .Values.configuration.encryption }}
{{- if .existingSecret }}
- name: encryption
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 288
    items:
      - { key: {{ .key }}, path: encryption.yaml }
{{- end }}
{{- end }}
{{- end -}}
