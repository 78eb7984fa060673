"""Values files of made-up deployments, from the smallest to one with everything."""

from typing import Any

import yaml

SECRET = "hunter2-in-plain-text"

MINIMAL = """
coder:
  env:
    - name: CODER_ACCESS_URL
      value: https://coder.example.com
    - name: CODER_PG_CONNECTION_URL
      valueFrom: { secretKeyRef: { name: coder-db-url, key: url } }
"""

EVERYTHING = f"""
coder:
  image:
    repo: registry.example.com/coder
    tag: v2.29.1
    pullPolicy: Always
    pullSecrets: [{{ name: registry-login }}]
  replicaCount: 3
  env:
    - {{ name: CODER_ACCESS_URL, value: "https://coder.example.com" }}
    - {{ name: CODER_WILDCARD_ACCESS_URL, value: "*.coder.example.com" }}
    - name: CODER_PG_CONNECTION_URL
      valueFrom: {{ secretKeyRef: {{ name: coder-db-url, key: dsn }} }}
    - {{ name: CODER_VERBOSE, value: "true" }}
    - {{ name: CODER_DISABLE_PASSWORD_AUTH, value: "true" }}
    - {{ name: CODER_MAX_TOKEN_LIFETIME, value: 720h }}
    - {{ name: CODER_OIDC_CLIENT_SECRET, value: {SECRET} }}
    - {{ name: CODER_SCIM_AUTH_HEADER, value: {SECRET} }}
    - {{ name: HTTPS_PROXY, value: "http://me:{SECRET}@proxy.example.com" }}
    - name: CODER_OIDC_CLIENT_ID
      valueFrom: {{ secretKeyRef: {{ name: oidc, key: id, optional: true }} }}
    - name: NODE
      valueFrom: {{ fieldRef: {{ fieldPath: spec.nodeName }} }}
    - {{ name: CODER_HTTP_ADDRESS, value: "0.0.0.0:8080" }}
    - {{ name: CODER_TLS_ENABLE, value: "true" }}
  envFrom: [{{ configMapRef: {{ name: coder-settings }} }}]
  envUseClusterAccessURL: true
  workspaceProxy: false
  command: [/opt/coder]
  commandArgs: [server, --verbose]
  tls: {{ secretNames: [coder-tls] }}
  certs: {{ secrets: [{{ name: corporate-ca, key: ca.crt }}] }}
  service:
    enable: true
    type: NodePort
    sessionAffinity: ClientIP
    externalTrafficPolicy: Cluster
    loadBalancerIP: 192.0.2.7
    httpNodePort: 30080
    annotations: {{ example.com/internal: "yes" }}
  ingress:
    enable: true
    className: nginx
    host: coder.example.com
    wildcardHost: "*.coder.example.com"
    annotations: {{ cert-manager.io/cluster-issuer: letsencrypt }}
    tls: {{ enable: true, secretName: coder-cert, wildcardSecretName: coder-wildcard-cert }}
  httproute: {{ enable: false, host: other.example.com, parentRefs: [{{ name: gateway }}] }}
  serviceAccount:
    name: coder
    annotations: {{ eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/coder" }}
    workspacePerms: true
    enableDeployments: false
    disableCreate: false
    labels: {{ team: platform }}
    extraRules: [{{ apiGroups: [""], resources: [services], verbs: [get] }}]
    workspaceNamespaces:
      - {{ name: workspaces }}
      - {{ name: labs, enableDeployments: true }}
  securityContext: {{ runAsUser: 1000, runAsNonRoot: true, readOnlyRootFilesystem: true }}
  podSecurityContext: {{ fsGroup: 2000 }}
  resources: {{ requests: {{ cpu: 2, memory: 4Gi }}, limits: {{ memory: 8Gi }} }}
  nodeSelector: {{ kubernetes.io/os: linux }}
  tolerations: [{{ key: dedicated, operator: Exists }}]
  affinity: {{ nodeAffinity: {{ a: b }} }}
  topologySpreadConstraints: [{{ maxSkew: 1 }}]
  podDisruptionBudget: {{ minAvailable: 2 }}
  readinessProbe: {{ enabled: true, initialDelaySeconds: 5, successThreshold: 1 }}
  livenessProbe: {{ enabled: true, periodSeconds: 20 }}
  annotations: {{ example.com/deployment: a }}
  labels: {{ team: platform }}
  podAnnotations: {{ example.com/pod: a }}
  podLabels: {{ tier: web }}
  priorityClassName: important
  volumes: [{{ name: extra, emptyDir: {{}} }}]
  volumeMounts: [{{ name: extra, mountPath: /extra }}]
  initContainers: [{{ name: wait, image: busybox }}]
  lifecycle: {{ preStop: {{ exec: {{ command: [sleep, "5"] }} }} }}
provisionerDaemon: {{ pskSecretName: coder-psk }}
extraTemplates: ["kind: ConfigMap"]
nameOverride: coder-two
"""

PROVISIONER = """
coder:
  image: { repo: registry.example.com/coder, tag: v2.29.1 }
  replicaCount: 4
  env:
    - { name: CODER_URL, value: "https://coder.example.com" }
    - { name: CODER_ORGANIZATION, value: research }
    - { name: TF_LOG, value: debug }
    - name: AWS_SECRET_ACCESS_KEY
      valueFrom: { secretKeyRef: { name: aws, key: secret } }
  commandArgs: [provisionerd, start, --poll-interval=1s]
  serviceAccount: { name: coder-provisioner }
  resources: { limits: { memory: 2Gi } }
provisionerDaemon:
  keySecretName: builder-key
  keySecretKey: token
  pskSecretName: coder-provisioner-psk
  terminationGracePeriodSeconds: 1800
"""

WITH_PSK = """
coder:
  env: [{ name: CODER_URL, value: "https://coder.example.com" }]
provisionerDaemon:
  pskSecretName: coder-provisioner-psk
  tags: { region: eu, owner.example.com: build }
"""

ODD = """
coder:
  replicaCount: many
  image: { tag: 2.29, repo: "Not An Image", pullSecrets: [login, { name: a, more: b }] }
  env:
    - nothing
    - { value: x }
    - { name: A, value: "1" }
    - { name: A, value: "2" }
    - { name: B, value: { nested: yes } }
    - { name: C, valueFrom: { secretKeyRef: { name: only } } }
    - { name: CODER_ACCESS_URL, value: "https://coder.example.com/with/a/path" }
    - { name: CODER_PG_CONNECTION_URL, value: "postgres://me:hunter2-in-plain-text@db/coder" }
  ingress: { enable: true, className: nginx }
  service: { type: ExternalName, annotations: [a] }
  podLabels: { "not a label": x, good: label, 1: 2 }
  podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 }
  securityContext: { readOnlyRootFilesystem: null }
  serviceAccount: { workspacePerms: false, workspaceNamespaces: [coder, { name: a }, { name: a }] }
  certs: { secrets: [{ name: ca }, { name: ca, key: k }, { name: ca, key: k }] }
  madeUp: { a: [1, { b: 2 }] }
  tls: [a]
global: { key: value }
"""


def parsed(text: str) -> Any:
    return yaml.safe_load(text)
