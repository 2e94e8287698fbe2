import { expect } from 'chai'
import { describe, it } from 'mocha'
import { admit } from './testing/admission.ts'
import { ADMISSION_CASES } from './testing/admission-cases.ts'

const object = (spec: object, name = 'shop') => ({ metadata: { name }, spec })

for (const kind of ['LogPipeline', 'TicketingRoute']) {
  describe(kind, () => {
    for (const { title, spec, old, name, problem } of ADMISSION_CASES.filter(one => one.kind === kind)) {
      it(title, () => {
        const { problems } = admit(kind, object(spec, name), old === undefined ? undefined : object(old, name))
        expect(problems).to.have.length(problem === undefined ? 0 : 1)
        if (problem !== undefined) expect(problems[0]!.startsWith(problem), problems[0]).to.equal(true)
      })
    }
  })
}

// No case of the real API server: it takes no such object any more.
describe('a volume of nothing, from before there was a rule against it,', () => {
  const stored = (storage: object) => object({ mode: 'AllInOne', allInOne: { storage } })

  for (const size of ['0', 0, '0.0Gi'])
    it(`of ${JSON.stringify(size)}, can be mended: there is no claim yet`, () => {
      expect(admit('LogPipeline', stored({ size: '20Gi' }), stored({ size })).problems).to.deep.equal([])
    })

  it('leaves a volume that there may be as it is', () => {
    for (const old of [{ size: '1Gi' }, { size: 1 }, { storageClassName: 'fast' }])
      expect(admit('LogPipeline', stored({ ...old, size: '20Gi' }), stored(old)).problems, JSON.stringify(old)).to.have.length(1)
  })
})

describe('defaults', () => {
  it('of a LogPipeline: mode Distributed, tenant default, managed topics', () => {
    const { object: taken } = admit<{ spec: object }>(
      'LogPipeline',
      object({ bus: { bootstrapServers: ['a:1'] }, search: { endpoint: 'http://a' } }),
    )
    expect(taken.spec).to.deep.include({ mode: 'Distributed', tenant: 'default', bus: { bootstrapServers: ['a:1'], topics: 'Managed' } })
  })

  it('of a TicketingRoute: enabled, and not for escalation', () => {
    const spec = { severities: ['critical'], platform: 'pagerduty', credentials: { secret: { name: 'a' } } }
    const { object: taken } = admit<{ spec: object }>('TicketingRoute', object(spec))
    expect(taken.spec).to.deep.equal({ ...spec, enabled: true, escalation: false })
  })
})
