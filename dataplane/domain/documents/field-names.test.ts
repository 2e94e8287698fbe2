import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isCanonicalName, isTopLevelKey } from './field-names.ts'

describe('names that belong to the pipeline', () => {
  it('no attribute becomes tenant_id, is_anomaly, anomaly_score, log_id, an ml field or enriched, in any spelling that flattens to it', () => {
    for (const name of ['tenant_id', 'is_anomaly', 'anomaly_score', 'log_id', 'ml_error_rate_1h', 'ml_p99_latency_1h', 'enriched'])
      for (const key of [name, name.replaceAll('_', '.'), name.replace('_', '.')]) expect(isTopLevelKey(key), key).to.equal(false)
    expect(isCanonicalName('is_anomaly')).to.equal(true)
    expect(isCanonicalName('user_id')).to.equal(false)
  })

  it('a key whose first segment is a canonical field has no place beside it', () => {
    for (const key of ['service.version', 'host.name', 'message.template']) expect(isTopLevelKey(key), key).to.equal(false)
    for (const key of ['user.id', 'k8s.pod.name', 'services']) expect(isTopLevelKey(key), key).to.equal(true)
  })

  it('of two names that SDKs give one thing the older, which the newer continues, has no place beside it', () => {
    for (const older of ['deployment.environment', 'code.function']) {
      expect(isTopLevelKey(older), older).to.equal(false)
      expect(isTopLevelKey(`${older}.name`), older).to.equal(true)
    }
  })

  it('keys that OpenSearch has no place for stand in the field attributes', () => {
    const deepest = Array.from({ length: 20 }, () => 'a').join('.')
    for (const key of ['', '.', 'a.', '.a', 'a..b', 'a. ', 'a\0b', '_id', '_source.x', `${deepest}.a`, 'x'.repeat(513)])
      expect(isTopLevelKey(key), JSON.stringify(key)).to.equal(false)
    for (const key of [deepest, 'x'.repeat(512), '__proto__', 'constructor']) expect(isTopLevelKey(key), key).to.equal(true)
  })
})
