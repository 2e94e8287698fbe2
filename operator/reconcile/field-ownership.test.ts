import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { FieldsV1, KubernetesObject } from '../../dataplane/kube/object.ts'
import { fieldsOf, type JsonObject, toFieldsV1 } from '../../dataplane/kube/testing/field-set.ts'
import { configMap, deployment } from '../../dataplane/kube/testing/resources.ts'
import { findLostField } from './field-ownership.ts'

const fields = (tree: object): FieldsV1 => tree as FieldsV1

describe('Who owns the fields that we applied', () => {
  const template = (containers: readonly object[]) => deployment('web', { template: { spec: { containers } } })
  const items = (...keys: string[]) =>
    fields({
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:containers': Object.fromEntries(keys.map(key => [key, { '.': {}, 'f:image': {}, 'f:name': {} }])) },
        },
      },
    })

  const cases: readonly { name: string; wanted: KubernetesObject; owned: FieldsV1; lost: string | undefined }[] = [
    { name: 'a value', wanted: configMap('a', { x: '1' }), owned: fields({ 'f:data': { 'f:x': {} } }), lost: undefined },
    {
      name: 'a value that somebody took',
      wanted: configMap('a', { x: '1', y: '2' }),
      owned: fields({ 'f:data': { 'f:x': {} } }),
      lost: 'data.y',
    },
    { name: 'a label', wanted: configMap('a', {}, { app: 'x' }), owned: fields({ 'f:data': {} }), lost: 'metadata' },
    {
      name: 'an item of a list by its key',
      wanted: template([{ name: 'b', image: 'x' }]),
      owned: items('k:{"name":"a"}', 'k:{"name":"b"}'),
      lost: undefined,
    },
    {
      name: 'an item that somebody removed',
      wanted: template([
        { name: 'a', image: 'x' },
        { name: 'b', image: 'x' },
      ]),
      owned: items('k:{"name":"a"}'),
      lost: 'spec.template.spec.containers[1]',
    },
    {
      name: 'a port whose protocol has a default',
      wanted: { ...configMap('s'), spec: { ports: [{ port: 80 }] } },
      owned: fields({ 'f:data': {}, 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } }),
      lost: undefined,
    },
    {
      name: 'a set',
      wanted: { ...configMap('s'), spec: { names: ['a', 'b'] } },
      owned: fields({ 'f:data': {}, 'f:spec': { 'f:names': { 'v:"a"': {} } } }),
      lost: 'spec.names[1]',
    },
    {
      name: 'what is owned as a whole, whatever is in it',
      wanted: { ...configMap('s'), spec: { rules: [{ a: 1 }], selector: { app: 'x' } } },
      owned: fields({ 'f:data': {}, 'f:spec': { 'f:rules': {}, 'f:selector': {} } }),
      lost: undefined,
    },
    {
      name: 'an empty list, which is dropped',
      wanted: { ...configMap('s'), spec: { rules: [] } },
      owned: fields({ 'f:data': {}, 'f:spec': {} }),
      lost: undefined,
    },
    {
      name: 'a status, which is no part of it',
      wanted: { ...configMap('s'), status: { a: 1 } },
      owned: fields({ 'f:data': {} }),
      lost: undefined,
    },
  ]
  for (const { name, wanted, owned, lost } of cases)
    it(`knows ${name}`, () => {
      expect(findLostField(wanted, owned)).to.equal(lost)
    })

  const leaf = fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.boolean())
  const key = fc.constantFrom('a', 'b', 'c', 'd')
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.dictionary(key, tie('value'), { minKeys: 1, maxKeys: 3 }),
      fc.array(leaf, { minLength: 1, maxLength: 3 }),
    ),
  }))

  it('misses no field that was applied, and notices each that is lost (property)', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 3 }), fc.nat(), (data, n) => {
        const wanted = { ...configMap('a'), data } as KubernetesObject
        const paths = [...fieldsOf(wanted as JsonObject)]
        expect(findLostField(wanted, toFieldsV1(new Set(paths)))).to.equal(undefined)
        const lost = paths[n % paths.length]!
        const left = toFieldsV1(new Set(paths.filter(path => path !== lost)))
        expect(findLostField(wanted, left)).to.be.a('string')
      }),
      { numRuns: 200, seed: 3 },
    )
  })
})
