{{/* The name of everything in a release: that of the release, with that of the chart unless it is in there. */}}
{{- define "e2g.fullname" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{/* Labels by which pods are selected. Takes (dict "root" $ "component" NAME). They never change. */}}
{{- define "e2g.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* All labels. Takes (dict "root" $ "component" NAME). */}}
{{- define "e2g.labels" -}}
{{ include "e2g.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "e2g.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{ .Values.publicUrl }}
{{- else if .Values.ingress.enabled -}}
http{{ if .Values.ingress.tlsSecret }}s{{ end }}://{{ required "ingress.host is missing: set it to the host name of the service, such as e2g.example.org." .Values.ingress.host }}
{{- else -}}
http://{{ include "e2g.fullname" . }}.{{ .Release.Namespace }}.svc:8000
{{- end -}}
{{- end }}

{{/* What all pods have in common, but for the container. */}}
{{- define "e2g.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false # variables such as E2G_NEO4J_PORT would look like settings
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: tmp
    emptyDir: {}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What all containers have in common. They write to /tmp only. */}}
{{- define "e2g.container" -}}
image: {{ required "image.repository is missing: set it to where you pushed the image, such as registry.example.org/e2g-neo4j." .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- with .Values.extraEnvFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
env:
  - name: NEO4J_URI
    value: {{ required "neo4j.uri is missing: set it to the address of your Neo4j, such as neo4j+s://HOST." .Values.neo4j.uri | quote }}
  - name: NEO4J_USERNAME
    value: {{ .Values.neo4j.username | quote }}
  - name: NEO4J_DATABASE
    value: {{ .Values.neo4j.database | quote }}
  - name: NEO4J_PASSWORD
    valueFrom:
      secretKeyRef:
        name: {{ required "neo4j.passwordSecret.name is missing: create a secret with the password of the database, and set its name." .Values.neo4j.passwordSecret.name }}
        key: {{ .Values.neo4j.passwordSecret.key }}
  - name: E2G_PUBLIC_URL
    value: {{ include "e2g.publicUrl" . | quote }}
  - name: E2G_WORKERS
    value: {{ .Values.worker.processes | quote }}
{{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
{{- end }}
{{- end }}
