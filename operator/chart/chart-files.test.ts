import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parse } from 'yaml'
import { settingsOfRole } from '../../dataplane/contract/env.ts'
import { PORTS } from '../../dataplane/contract/roles.ts'
import { crdFiles } from '../api/testing/crd-files.ts'
import { createOperatorMetrics } from '../runtime/operator-metrics.ts'
import { CHART, chartFiles, readChartFile } from './testing/chart-files.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
}

const deployment = readChartFile('templates/deployment.yaml')

describe('The chart', () => {
  it('is what the code makes (hack/node hack/chart.ts --write)', () => {
    for (const [path, text] of Object.entries(chartFiles())) expect(readChartFile(path), path).to.equal(text)
  })

  it('has a template for each CRD, which is the CRD as it is but for labels and annotations', () => {
    const crds = readdirSync(new URL('../../crds/', import.meta.url)).sort()
    expect(readdirSync(new URL('templates/crds/', CHART)).sort()).to.deep.equal(crds)
    for (const name of crds) {
      const plain = readChartFile(`templates/crds/${name}`)
        .replace(/^.*\{\{-.*\n/gm, '')
        .replace(/^ {2}(labels|annotations):\n/gm, '')
      expect(parse(plain), name).to.deep.equal(parse(readFileSync(new URL(`../../crds/${name}`, import.meta.url), 'utf8')))
    }
  })

  it('has CRDs that kubectl apply can annotate with what it applied last', () => {
    const limitBytes = 262_144
    for (const [name, text] of Object.entries(crdFiles()))
      expect(Buffer.byteLength(JSON.stringify(parse(text))), name).to.be.below(limitBytes / 2)
  })

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(parse(readChartFile('Chart.yaml'))).to.include({ version, appVersion: version, name: 'logpipeline' })
  })

  it('knows in values.schema.json exactly the values of values.yaml', () => {
    const schema = JSON.parse(readChartFile('values.schema.json')) as Schema
    // Helm gives `global` to every chart, and `enabled` to one with a condition of that name.
    const { global: _global, enabled: _enabled, ...properties } = schema.properties!
    expectSameKeys({ ...schema, properties }, parse(readChartFile('values.yaml')), 'values')
  })

  it('sets for the operator what the role knows, and all that it requires', () => {
    const names = [...deployment.matchAll(/^ {12}- name: (\w+)$/gm)].map(([, name]) => name!).filter(name => name === name.toUpperCase())
    const settings = new Map<string, { readonly requiredFor?: readonly string[] }>(settingsOfRole('operator'))
    expect(names.filter(name => !settings.has(name))).to.deep.equal([])
    const required = [...settings].filter(([, { requiredFor = [] }]) => requiredFor.includes('operator')).map(([name]) => name)
    expect(names).to.include.members(required)
    expect(deployment).to.contain(`containerPort: ${PORTS.operator}\n`)
    expect(readChartFile('templates/service.yaml')).to.contain(`port: ${PORTS.operator}\n`)
  })

  it('alerts by metrics that the operator has', async () => {
    const { text } = createOperatorMetrics()
    const known = [...(await text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!)
    const wiring = readFileSync(new URL('../main.ts', import.meta.url), 'utf8')
    const added = [...wiring.matchAll(/metrics\.gauge\('(\w+)'/g)].map(([, name]) => name!)
    const expressions = [...readChartFile('templates/prometheus-rule.yaml').matchAll(/^ +expr: (.*)$/gm)].map(
      ([, expression]) => expression!,
    )
    const used = expressions.flatMap(expression => [...expression.matchAll(/(\w+)\{ /g)].map(([, name]) => name!))
    expect(used).to.have.length.above(expressions.length - 1)
    expect(used.filter(name => ![...known, ...added, 'up'].includes(name))).to.deep.equal([])
  })

  it('packs no examples', () => {
    expect(readChartFile('.helmignore').split('\n')).to.include('/examples/')
  })
})

function expectSameKeys(schema: Schema, values: object, path: string): void {
  const { properties } = schema
  if (properties === undefined || schema.additionalProperties !== false) return
  // Quantities are free to choose: the schema names more than the defaults do.
  if (path !== 'values.resources') expect(Object.keys(values).sort(), path).to.deep.equal(Object.keys(properties).sort())
  for (const [name, child] of Object.entries(properties)) {
    const value = (values as Readonly<Record<string, unknown>>)[name]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) expectSameKeys(child, value, `${path}.${name}`)
  }
}
