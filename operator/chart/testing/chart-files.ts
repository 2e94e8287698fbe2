/** The files of the chart that are made: CRDs, the operator's rights, the table of values. */
import { readFileSync } from 'node:fs'
import type { V1PolicyRule } from '@kubernetes/client-node'
import { stringify } from 'yaml'
import { crdFiles } from '../../api/testing/crd-files.ts'
import { chartReadme } from './chart-readme.ts'
import { operatorRules } from './chart-rules.ts'

export const CHART = new URL('../../../charts/logpipeline/', import.meta.url)

const HEADING = '# Made by hack/chart.ts; change the code that it is made from.\n'

/** Path within the chart → text. */
export function chartFiles(): Readonly<Record<string, string>> {
  const crds = Object.entries(crdFiles()).map(([name, text]) => [`templates/crds/${name}`, crdTemplate(text)] as const)
  return {
    ...Object.fromEntries(crds),
    'files/operator-rules.yaml': HEADING + operatorRules().map(ruleText).join(''),
    'README.md': chartReadme(readChartFile('README.md'), readChartFile('values.yaml'), readChartFile('values.schema.json')),
  }
}

export function readChartFile(path: string): string {
  return readFileSync(new URL(path, CHART), 'utf8')
}

/** The CRD as it is, but for labels and annotations. A template and no `crds/` of Helm's, so that it is upgraded with the chart. */
function crdTemplate(crd: string): string {
  const [, name, rest] = /^apiVersion: .*\nkind: .*\nmetadata:\n {2}name: (.*)\n([\s\S]*)$/.exec(withoutComments(crd)) ?? []
  if (name === undefined || rest === undefined) throw new Error('a CRD begins with apiVersion, kind and metadata.name')
  return `{{- if .Values.crds.enabled }}
${HEADING}apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}
  labels:
    {{- include "logpipeline.labels" . | nindent 4 }}
  {{- with include "logpipeline.crdAnnotations" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
${literal(rest)}{{- end }}
`
}

function ruleText({ apiGroups = [], resources = [], verbs }: V1PolicyRule): string {
  return `- apiGroups: ${flow(apiGroups)}\n  resources: ${flow(resources)}\n  verbs: ${flow(verbs)}\n`
}

const flow = (texts: readonly string[]) => stringify(texts, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trim()

const withoutComments = (yaml: string) => yaml.replace(/^#.*\n/gm, '')

/** Helm takes braces for actions. */
const literal = (text: string) => text.replace(/\{\{/g, '{{ "{{" }}')
