/** CustomResourceDefinitions of other operators: of the kinds that ours makes or reads, and of those that the examples hold. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { downloadModule } from '../../../dataplane/testing/real/go-tools.ts'

/** Go modules, and the files in them. */
export const CRD_FILES: Readonly<Record<string, readonly string[]>> = {
  'github.com/kedacore/keda/v2@v2.16.1': ['scaledobjects', 'triggerauthentications'].map(kind => `config/crd/bases/keda.sh_${kind}.yaml`),
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': ['servicemonitors', 'prometheusrules'].map(
    kind => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  ),
  'github.com/external-secrets/external-secrets@v0.20.4': ['deploy/crds/bundle.yaml'],
  'github.com/fluxcd/kustomize-controller@v1.7.3': ['config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml'],
  'github.com/fluxcd/source-controller@v1.8.5': ['config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml'],
  'github.com/cert-manager/cert-manager@v1.18.2': ['deploy/crds/crd-certificates.yaml'],
  'github.com/argoproj/argo-cd/v3@v3.4.13': ['manifests/crds/application-crd.yaml'],
}

export interface Crd {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: Readonly<Record<string, unknown>> }
    }[]
  }
}

/** As they are shipped, but for labels and annotations, which are Helm templates in some. Throws `Unavailable`. */
export async function shippedCrds(limitMs: number, isWanted: (module: string) => boolean = () => true): Promise<readonly Crd[]> {
  const crds: Crd[] = []
  for (const [module, paths] of Object.entries(CRD_FILES)) {
    if (!isWanted(module)) continue
    const directory = await downloadModule(module, limitMs)
    for (const path of paths)
      for (const document of parseAllDocuments(readFileSync(join(directory, path), 'utf8'))) {
        const object = document.toJS() as Crd | null
        if (object?.kind === 'CustomResourceDefinition') crds.push({ ...object, metadata: { name: object.metadata.name } })
      }
  }
  return crds
}

/** With versions that nobody has to convert: the webhooks of their operators are not there. */
export const withoutConversion = (crd: Crd): Crd => ({ ...crd, spec: { ...crd.spec, ...{ conversion: { strategy: 'None' } } } })

const TEXT = { type: 'string' }
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const fields = (properties: object, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

/** Neither Strimzi nor Flux's Helm controller publish theirs as a Go module: kinds with the fields that are used here, as theirs have them. */
export const WRITTEN_CRDS: readonly Crd[] = [
  written('kafka.strimzi.io', 'v1beta2', 'Kafka', OPEN),
  written(
    'kafka.strimzi.io',
    'v1beta2',
    'KafkaTopic',
    fields({ partitions: { type: 'integer' }, replicas: { type: 'integer' }, topicName: TEXT, config: OPEN }),
  ),
  written(
    'kafka.strimzi.io',
    'v1beta2',
    'KafkaUser',
    fields({ authentication: fields({ type: { ...TEXT, enum: ['tls', 'tls-external', 'scram-sha-512'] } }, 'type') }),
  ),
  written(
    'helm.toolkit.fluxcd.io',
    'v2',
    'HelmRelease',
    fields(
      {
        interval: { ...TEXT, pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' },
        releaseName: { ...TEXT, maxLength: 53 },
        chart: fields(
          {
            spec: fields(
              {
                chart: TEXT,
                reconcileStrategy: { ...TEXT, enum: ['ChartVersion', 'Revision'] },
                sourceRef: fields(
                  { kind: { ...TEXT, enum: ['HelmRepository', 'GitRepository', 'Bucket'] }, name: TEXT, namespace: TEXT },
                  'kind',
                  'name',
                ),
              },
              'chart',
              'sourceRef',
            ),
          },
          'spec',
        ),
        install: fields({ remediation: fields({ retries: { type: 'integer' } }) }),
        upgrade: fields({ remediation: fields({ retries: { type: 'integer' } }) }),
        values: OPEN,
      },
      'interval',
    ),
  ),
]

function written(group: string, version: string, kind: string, spec: object): Crd {
  const singular = kind.toLowerCase()
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: OPEN } } }
  const versions = [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }]
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: { group, scope: 'Namespaced', names: { kind, singular, plural: `${singular}s` }, versions },
  }
  return crd
}
