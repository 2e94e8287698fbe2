import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import type { LogPipelineStatus } from '../api/status.ts'
import { gatheredFrom } from './testing/gathered-from.ts'
import { pipelineObject, SPEC, statusOf } from './testing/status-of.ts'
import { topicPrefixOf } from './topic-prefix.ts'

const ALL_IN_ONE = { mode: 'AllInOne', tenant: 'shop' }
/** As an operator before this one left it. */
const RAN = { observedGeneration: 2, conditions: [condition('Ready'), condition('CollectorAvailable')] }
const RAN_ALL_IN_ONE = { observedGeneration: 2, conditions: [condition('Ready'), condition('StandaloneAvailable')] }
const UNSEEN = { conditions: [condition('Ready')] }

function condition(type: string) {
  return { type, status: 'True' as const, reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
}

const withPrefix = (topicPrefix: string): Pick<LogPipelineSpec, 'bus'> => ({ bus: { ...SPEC.bus, topics: 'Managed', topicPrefix } })

function prefixOf(spec: object, status?: LogPipelineStatus): string {
  const { pipeline } = gatheredFrom([pipelineObject({ ...SPEC, ...spec })])
  return topicPrefixOf(status === undefined ? pipeline : { ...pipeline, status })
}

describe('What the topics of a LogPipeline begin with', () => {
  const CASES: readonly (readonly [title: string, spec: object, status: LogPipelineStatus | undefined, expected: string])[] = [
    ['namespace and name, of a new one', {}, undefined, 'ns.shop.'],
    ['namespace and name, of one that no operator has seen', {}, UNSEEN, 'ns.shop.'],
    ['nothing, of one that ran before there was a default', {}, RAN, ''],
    ['what the resource says', withPrefix('mine-'), undefined, 'mine-'],
    ['what the resource says, also of one that ran', withPrefix('mine-'), RAN, 'mine-'],
    ['nothing, where the resource says so', withPrefix(''), undefined, ''],
    ['what it began with before, when the resource no longer says', {}, { ...RAN, topicPrefix: 'mine-' }, 'mine-'],
    ['nothing, where the status remembers that', {}, { ...RAN, topicPrefix: '' }, ''],
    ['namespace and name, of one that ran in mode AllInOne', {}, RAN_ALL_IN_ONE, 'ns.shop.'],
  ]
  for (const [title, spec, status, expected] of CASES) it(`is ${title}`, () => expect(prefixOf(spec, status)).to.equal(expected))

  it('is another for each pipeline, whatever their namespaces and names', () => {
    const names = ['a', 'a-b', 'b', 'a-b-c']
    const prefixes = names.flatMap(namespace =>
      names.map(name => topicPrefixOf(gatheredFrom([pipelineObject(SPEC, { namespace, name })]).pipeline)),
    )
    expect(new Set(prefixes).size).to.equal(prefixes.length)
  })

  it('is remembered in the status from the first on, and through a time in mode AllInOne', () => {
    expect(statusOf([pipelineObject(SPEC)]).topicPrefix).to.equal('ns.shop.')
    const told = (spec: object, status: LogPipelineStatus) => statusOf([{ ...pipelineObject(spec), status }]).topicPrefix
    expect(told(SPEC, RAN)).to.equal('')
    expect(told(ALL_IN_ONE, RAN)).to.equal('')
    expect(told(ALL_IN_ONE, { ...RAN_ALL_IN_ONE, topicPrefix: 'x' })).to.equal('x')
    expect(told(ALL_IN_ONE, RAN_ALL_IN_ONE)).to.equal(undefined)
  })
})
